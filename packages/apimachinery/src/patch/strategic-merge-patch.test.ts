import { describe, expect, test } from "vitest";
import { deepFreeze, type JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        containers: {
          type: "array",
          "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-patch-merge-key": "name",
          items: { type: "object", properties: { name: text, image: text, args: { type: "array", items: text } } },
        },
        strategy: {
          type: "object",
          "x-kubernetes-patch-strategy": "retainKeys",
          properties: { type: text, rolling: { type: "object", additionalProperties: text } },
        },
        tolerations: { type: "array", items: { type: "object", properties: { key: text } } },
        nodeSelector: { type: "object", additionalProperties: text },
      },
    },
  },
};

const live = deepFreeze({
  metadata: { name: "a", finalizers: ["x/a", "x/b"], labels: { l: "1" } },
  spec: {
    containers: [
      { name: "c", image: "i:1", args: ["x", "y"] },
      { name: "d", image: "j:1" },
    ],
    strategy: { type: "Rolling", rolling: { max: "1" } },
    tolerations: [{ key: "t" }],
    nodeSelector: { z: "1" },
  },
}) as unknown as JsonObject & { metadata: JsonObject; spec: JsonObject };

const patchSpec = (spec: JsonObject): JsonObject =>
  applyStrategicMergePatch(live, { spec }, schema)["spec"] as JsonObject;
const names = (spec: JsonObject): unknown[] => (spec["containers"] as { name: string }[]).map(({ name }) => name);

test("list items merge by their key", () => {
  const spec = patchSpec({ containers: [{ name: "c", image: "i:2" }] });

  expect(spec["containers"]).toEqual([
    { name: "c", image: "i:2", args: ["x", "y"] },
    { name: "d", image: "j:1" },
  ]);
});

test("a list without a merge strategy is replaced, including lists inside items", () => {
  expect(patchSpec({ tolerations: [{ key: "u" }] })["tolerations"]).toEqual([{ key: "u" }]);
  expect(patchSpec({ containers: [{ name: "c", args: ["z"] }] })["containers"]).toContainEqual({
    name: "c",
    image: "i:1",
    args: ["z"],
  });
});

test("parts that the patch does not change are shared", () => {
  expect(patchSpec({ nodeSelector: { y: "2" } })["containers"]).toBe(live.spec["containers"]);
});

test("an item is deleted by directive, and null deletes a field", () => {
  expect(names(patchSpec({ containers: [{ name: "c", $patch: "delete" }] }))).toEqual(["d"]);
  expect(patchSpec({ strategy: null })).not.toHaveProperty("strategy");
});

test("a replace directive in a list keeps only the patch's other items", () => {
  expect(patchSpec({ containers: [{ name: "only", image: "o" }, { $patch: "replace" }] })["containers"]).toEqual([
    { name: "only", image: "o" },
  ]);
});

test("a map is replaced or emptied by directive", () => {
  expect(patchSpec({ nodeSelector: { $patch: "replace", y: "2" } })["nodeSelector"]).toEqual({ y: "2" });
  expect(patchSpec({ nodeSelector: { $patch: "delete" } })["nodeSelector"]).toEqual({});
});

test("retainKeys drops the keys it does not name", () => {
  expect(patchSpec({ strategy: { $retainKeys: ["type"], type: "Recreate" } })["strategy"]).toEqual({
    type: "Recreate",
  });
});

test("finalizers are a set: values are merged, deleted and ordered", () => {
  const finalizers = (metadata: JsonObject): unknown =>
    (applyStrategicMergePatch(live, { metadata }, schema)["metadata"] as JsonObject)["finalizers"];

  expect(finalizers({ finalizers: ["x/b", "x/c"] })).toEqual(["x/a", "x/b", "x/c"]);
  expect(finalizers({ "$deleteFromPrimitiveList/finalizers": ["x/a"], finalizers: ["x/c"] })).toEqual(["x/c", "x/b"]);
  expect(finalizers({ "$setElementOrder/finalizers": ["x/b", "x/a"] })).toEqual(["x/b", "x/a"]);
  expect(finalizers({ "$deleteFromPrimitiveList/finalizers": "x" })).toEqual(["x/a", "x/b"]);
});

test("an element order arranges the items, and unnamed items keep the server's position", () => {
  expect(
    names(
      patchSpec({
        "$setElementOrder/containers": [{ name: "d" }, { name: "n" }, { name: "c" }],
        containers: [{ name: "n" }],
      }),
    ),
  ).toEqual(["d", "n", "c"]);
  expect(names(patchSpec({ "$setElementOrder/containers": [{ name: "d" }] }))).toEqual(["c", "d"]);
});

test("directives in a new value are removed", () => {
  const patched = applyStrategicMergePatch(
    {},
    {
      spec: {
        containers: [
          { name: "a", $retainKeys: ["name"], image: null },
          { name: "b", $patch: "delete" },
        ],
      },
    },
    schema,
  );

  expect(patched).toEqual({ spec: { containers: [{ name: "a" }] } });
});

test("a map that is only a directive adds nothing where there was no map", () => {
  expect(applyStrategicMergePatch({}, { spec: { nodeSelector: { $patch: "replace", zone: "a" } } }, schema)).toEqual({
    spec: {},
  });
});

test("setElementOrder for a list without elements fails, as on the real server", () => {
  const patch = { spec: { "$setElementOrder/containers": [{ name: "c" }], containers: [] } };

  expect(() => applyStrategicMergePatch({ spec: { containers: [] } }, patch, schema)).toThrow(
    "no elements in any of the given slices",
  );
});

test("setElementOrder that contradicts the order of the patch is rejected", () => {
  const patch = {
    spec: { "$setElementOrder/containers": [{ name: "d" }, { name: "c" }], containers: [{ name: "c" }, { name: "d" }] },
  };

  expect(() => applyStrategicMergePatch(live, patch, schema)).toThrow("doesn't match $setElementOrder list");
});

test("an empty setElementOrder has no effect", () => {
  const patched = applyStrategicMergePatch(
    { spec: { containers: [{ name: "a" }] } },
    { spec: { "$setElementOrder/containers": [], containers: [{ name: "b" }] } },
    schema,
  );

  expect(patched).toEqual({ spec: { containers: [{ name: "a" }, { name: "b" }] } });
});

test("null as a patch changes nothing", () => {
  expect(applyStrategicMergePatch(live, null, schema)).toBe(live);
});

describe("failures have the real server's codes", () => {
  const failures: Record<string, [patch: unknown, code: number, message: string]> = {
    "an explicit merge of items": [
      { spec: { containers: [{ name: "c", $patch: "merge" }] } },
      500,
      "merging lists cannot yet be specified in the patch",
    ],
    "an unknown directive of an item": [
      { spec: { containers: [{ name: "c", $patch: "explode" }] } },
      500,
      "unknown patch type: explode in map: map[$patch:explode name:c]",
    ],
    "an unknown directive of a map": [
      { metadata: { labels: { $patch: "merge", z: "1" } } },
      500,
      "unknown patch type: merge in map: map[$patch:merge z:1]",
    ],
    "a directive that is not a string": [
      { spec: { nodeSelector: { $patch: 5 } } },
      500,
      "unknown patch type: %!s(int64=5) in map: map[$patch:5]",
    ],
    "an item without its key": [
      { spec: { containers: [{ image: "x" }] } },
      500,
      "map: map[image:x] does not contain declared merge key: name",
    ],
    "mixed items": [
      { spec: { containers: [{ name: "c" }, 5] } },
      500,
      "list element types are not identical: [[map[args:[x y] image:i:1 name:c] map[image:j:1 name:d]] [map[name:c] 5]]",
    ],
    "retainKeys that miss a key": [
      { spec: { strategy: { $retainKeys: ["type"], rolling: { max: "2" } } } },
      400,
      "invalid patch format of retainKeys",
    ],
    "retainKeys that is not a list": [
      { metadata: { labels: { $retainKeys: "x" } } },
      400,
      "invalid patch format of retainKeys",
    ],
    "a map for a list": [
      { spec: { containers: { name: "c" } } },
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[containers:map[name:c]]]": cannot restore slice from map',
    ],
    "a list as the patch": [[], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"],
  };
  for (const [behaviour, [patch, code, message]] of Object.entries(failures)) {
    test(behaviour, () => {
      expect(() => applyStrategicMergePatch(live, patch as JsonObject, schema)).toThrow(
        expect.objectContaining({ message, status: expect.objectContaining({ code }) as unknown }),
      );
    });
  }

  test("an order that misses an item of the patch", () => {
    const patch = { spec: { "$setElementOrder/containers": [{ name: "c" }], containers: [{ name: "n" }] } };

    expect(() => applyStrategicMergePatch(live, patch, schema)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 500 }) as unknown }),
    );
  });
});

test("__proto__ in a patch is an ordinary key", () => {
  const patched = applyStrategicMergePatch(
    { a: {} },
    JSON.parse('{"a":{"__proto__":{"polluted":true}}}') as JsonObject,
    schema,
  );

  expect(JSON.stringify(patched)).toBe('{"a":{"__proto__":{"polluted":true}}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});
