import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
import { threeWayPatch } from "./three-way-patch.ts";

const schema: Schema = {
  type: "object",
  properties: {
    containers: {
      type: "array",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
      items: { type: "object", properties: { args: { type: "array", items: { type: "string" } } } },
    },
    volumes: {
      type: "array",
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
      items: { type: "object" },
    },
    ports: {
      type: "array",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "port",
      items: { type: "object" },
    },
    strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys" },
    names: { type: "array", "x-kubernetes-patch-strategy": "merge", items: { type: "string" } },
  },
};

interface Case {
  last: JsonObject;
  next: JsonObject;
  live: JsonObject;
  patch: JsonObject;
  result: JsonObject;
}

const strategic: Record<string, Case> = {
  "changes one field of a list item, and keeps the others": {
    last: { containers: [{ name: "a", image: "a:latest" }] },
    next: { containers: [{ name: "a", image: "a:1" }] },
    live: { containers: [{ name: "a", image: "a:latest", imagePullPolicy: "Always" }] },
    patch: { containers: [{ name: "a", image: "a:1" }], "$setElementOrder/containers": [{ name: "a" }] },
    result: { containers: [{ name: "a", image: "a:1", imagePullPolicy: "Always" }] },
  },
  "deletes items and fields of items that only the last manifest had, and keeps those of others": {
    last: { containers: [{ name: "a", tty: true }, { name: "b" }] },
    next: { containers: [{ name: "a" }] },
    live: { containers: [{ name: "injected" }, { name: "a", tty: true }, { name: "b" }] },
    patch: {
      containers: [
        { name: "a", tty: null },
        { name: "b", $patch: "delete" },
      ],
      "$setElementOrder/containers": [{ name: "a" }],
    },
    result: { containers: [{ name: "injected" }, { name: "a" }] },
  },
  "adds items in the order of the manifest": {
    last: { containers: [{ name: "b" }] },
    next: { containers: [{ name: "a" }, { name: "b" }] },
    live: { containers: [{ name: "b" }] },
    patch: { containers: [{ name: "a" }], "$setElementOrder/containers": [{ name: "a" }, { name: "b" }] },
    result: { containers: [{ name: "a" }, { name: "b" }] },
  },
  "replaces a list without a merge strategy inside an item": {
    last: { containers: [{ name: "a", args: ["x"] }] },
    next: { containers: [{ name: "a", args: ["y"] }] },
    live: { containers: [{ name: "a", args: ["x"] }] },
    patch: { containers: [{ name: "a", args: ["y"] }], "$setElementOrder/containers": [{ name: "a" }] },
    result: { containers: [{ name: "a", args: ["y"] }] },
  },
  "retains only the keys of the manifest where the strategy says so": {
    last: { strategy: { type: "RollingUpdate" }, volumes: [{ name: "v", emptyDir: {} }] },
    next: { strategy: { type: "Recreate" }, volumes: [{ name: "v", secret: { secretName: "s" } }] },
    live: { strategy: { type: "RollingUpdate", rollingUpdate: {} }, volumes: [{ name: "v", emptyDir: {} }] },
    patch: {
      strategy: { type: "Recreate", $retainKeys: ["type"] },
      volumes: [{ name: "v", secret: { secretName: "s" }, emptyDir: null, $retainKeys: ["name", "secret"] }],
      "$setElementOrder/volumes": [{ name: "v" }],
    },
    result: { strategy: { type: "Recreate" }, volumes: [{ name: "v", secret: { secretName: "s" } }] },
  },
  "adds and deletes scalars of a list that merges, and keeps those of others": {
    last: { names: ["a", "b"] },
    next: { names: ["c", "a"] },
    live: { names: ["a", "b", "theirs"] },
    patch: { names: ["c"], "$deleteFromPrimitiveList/names": ["b"], "$setElementOrder/names": ["c", "a"] },
    result: { names: ["c", "a", "theirs"] },
  },
  "deletes the last item of a list": {
    last: { names: ["a"], containers: [{ name: "a" }] },
    next: { names: [], containers: [] },
    live: { names: ["a"], containers: [{ name: "a" }] },
    patch: { "$deleteFromPrimitiveList/names": ["a"], containers: [{ name: "a", $patch: "delete" }] },
    result: { names: [], containers: [] },
  },
  "compares items of one merge key in their order": {
    last: {},
    next: {
      ports: [
        { port: 53, protocol: "TCP" },
        { port: 53, protocol: "UDP" },
      ],
    },
    live: {
      ports: [
        { port: 53, protocol: "TCP" },
        { port: 53, protocol: "UDP" },
      ],
    },
    patch: {},
    result: {
      ports: [
        { port: 53, protocol: "TCP" },
        { port: 53, protocol: "UDP" },
      ],
    },
  },
};

test.each(Object.entries(strategic))("a strategic patch %s", (_, { last, next, live, patch, result }) => {
  expect(threeWayPatch({ last, next, live }, schema)).toEqual(patch);
  expect(applyStrategicMergePatch(live, patch, schema)).toEqual(result);
});

const merge: Record<string, Case> = {
  "replaces lists whole": {
    last: { containers: [{ name: "a" }] },
    next: { containers: [{ name: "b" }] },
    live: { containers: [{ name: "a", added: true }] },
    patch: { containers: [{ name: "b" }] },
    result: { containers: [{ name: "b" }] },
  },
  "deletes what only the last manifest had, and keeps what others set": {
    last: { data: { a: 1, b: 1 }, gone: {} },
    next: { data: { b: 2 }, empty: {} },
    live: { data: { a: 1, b: 1, theirs: 1 }, gone: { theirs: 1 } },
    patch: { data: { a: null, b: 2 }, gone: null, empty: {} },
    result: { data: { b: 2, theirs: 1 }, empty: {} },
  },
  "sends a null once": {
    last: { first: 1, again: null },
    next: { first: null, again: null },
    live: { first: 1, again: 1 },
    patch: { first: null },
    result: { again: 1 },
  },
};

test.each(Object.entries(merge))("a merge patch %s", (_, { last, next, live, patch, result }) => {
  expect(threeWayPatch({ last, next, live })).toEqual(patch);
  expect(applyMergePatch(live, patch)).toEqual(result);
});

test("a key of a hostile manifest stays an ordinary key", () => {
  const next = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}') as JsonObject;

  for (const patch of [
    threeWayPatch({ last: next, next, live: {} }, schema),
    threeWayPatch({ last: {}, next, live: {} }),
  ])
    expect(JSON.stringify(patch)).toBe('{"__proto__":{"a":1},"constructor":1}');
  expect(JSON.stringify(threeWayPatch({ last: next, next: {}, live: next }, schema))).toBe(
    '{"__proto__":null,"constructor":null}',
  );
});
