import { expect, test } from "vitest";
import { isServed } from "@flotilla/kubernetes";
import { describeKind } from "./kind.ts";
import { definitions, kinds, minimalObject } from "./minimal-objects.ts";

for (const kind of kinds) describeKind(kind, minimalObject(kind));

test("every served kind has an example, so that the suite covers it", () => {
  const served = definitions.filter(({ kind }) => isServed(kind));

  expect(served.length).toBeGreaterThan(80);
  expect(served.filter(({ example }) => !example).map(({ kind }) => kind.kind)).toEqual([]);
});
