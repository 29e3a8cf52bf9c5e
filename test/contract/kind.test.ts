import { expect, test } from "vitest";
import * as api from "../../src/api/index.ts";
import { describeKind } from "./kind.ts";
import { kinds, minimalObject } from "./minimal-objects.ts";

for (const kind of kinds) describeKind(kind, minimalObject(kind));

test("every exported kind has a minimal object, so that the suite covers it", () => {
  const exported = Object.values(api).filter(
    (value): value is api.Kind => typeof value === "object" && value !== null && "storageVersion" in value,
  );

  expect(exported.map(({ kind }) => kind).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});
