import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isCurrent } from "../packages/server/src/built-from.ts";
import { createBuildInputs, replaceFolder } from "./build-output.ts";

let root: string;
const at = (...path: string[]): string => join(root, ...path);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flotilla-build-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Whether a build that ends now would be started. */
function isBuildCurrent(inputs: ReturnType<typeof createBuildInputs>): boolean {
  writeFileSync(at("built-from.json"), JSON.stringify(inputs.builtFrom));
  return isCurrent(at("built-from.json"), at("/"));
}

test("a build is current if its inputs are as they were when they were noted", () => {
  writeFileSync(at("a.ts"), "1");
  const inputs = createBuildInputs(root);

  inputs.note(at("a.ts"));
  inputs.note(at("no-such-file.ts"));

  expect(isBuildCurrent(inputs)).toBe(true);
});

test("a build is not current if an input changed before it was noted a second time", () => {
  writeFileSync(at("a.ts"), "1");
  const inputs = createBuildInputs(root);

  inputs.note(at("a.ts"));
  appendFileSync(at("a.ts"), "2");
  inputs.note(at("a.ts"));

  expect(isBuildCurrent(inputs)).toBe(false);
});

function makeFolder(name: string, file: string): void {
  mkdirSync(at(name));
  writeFileSync(at(name, file), name);
}

test.each([true, false])("a folder takes the place of another, and nothing of that stays (it exists: %s)", (exists) => {
  if (exists) makeFolder("dist", "old");
  makeFolder("dist.1", "new");

  replaceFolder(at("dist"), at("dist.1"));

  expect(readdirSync(root)).toEqual(["dist"]);
  expect(readdirSync(at("dist"))).toEqual(["new"]);
  expect(readFileSync(at("dist", "new"), "utf8")).toBe("dist.1");
});
