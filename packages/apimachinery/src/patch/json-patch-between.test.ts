import type { JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { applyJsonPatch } from "./json-patch.ts";
import { jsonPatchBetween } from "./json-patch-between.ts";

const cases: Record<string, { before: JsonObject; after: JsonObject; want: unknown[] }> = {
  "between equal documents has no operations": { before: { a: { b: [1] } }, after: { a: { b: [1] } }, want: [] },
  "adds, replaces and removes members of objects": {
    before: { kept: 1, changed: 1, gone: 1 },
    after: { kept: 1, changed: 2, added: {} },
    want: [
      { op: "remove", path: "/gone" },
      { op: "replace", path: "/changed", value: 2 },
      { op: "add", path: "/added", value: {} },
    ],
  },
  "names only what differs inside objects, with escaped keys": {
    before: { metadata: { annotations: { "a/b~c": "1" }, name: "x" } },
    after: { metadata: { annotations: { "a/b~c": "2" }, name: "x" } },
    want: [{ op: "replace", path: "/metadata/annotations/a~1b~0c", value: "2" }],
  },
  "replaces a list as a whole, and an object that becomes something else": {
    before: { list: [1, 2], value: { a: 1 } },
    after: { list: [1, 3], value: [] },
    want: [
      { op: "replace", path: "/list", value: [1, 3] },
      { op: "replace", path: "/value", value: [] },
    ],
  },
};

for (const [behaviour, { before, after, want }] of Object.entries(cases))
  test(`a patch ${behaviour}, and its result is the second document`, () => {
    const patch = jsonPatchBetween(before, after);

    expect(patch).toEqual(want);
    expect(applyJsonPatch(before, patch as never)).toEqual(after);
  });
