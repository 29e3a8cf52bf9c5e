import { globSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { servedKinds } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "../kruise-definitions.ts";

test("every kind with two versions tests its conversion, in its folder", () => {
  const converted = servedKinds(kruiseDefinitions).filter(({ versions }) => versions["v1alpha1"]?.toStorage);

  const tested = globSync("../*/*-versions.test.ts", { cwd: import.meta.dirname }).map((file) => basename(file));

  expect(new Set(tested)).toEqual(new Set(converted.map(({ kind }) => `${kind.toLowerCase()}-versions.test.ts`)));
});
