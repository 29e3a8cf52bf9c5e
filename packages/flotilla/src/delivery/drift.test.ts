import { describe, expect, test } from "vitest";
import type { ManagedFieldsEntry } from "@flotilla/apimachinery";
import { findDrift, formatSteps, withoutSteps } from "./drift.ts";

const entry = (manager: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: "Update",
  apiVersion: "apps/v1",
  fieldsType: "FieldsV1",
  fieldsV1: fieldsV1 as never,
  ...more,
});
const spec = (...names: string[]): object => ({ "f:spec": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) });
const paths = (...args: Parameters<typeof findDrift>): string[] =>
  findDrift(...args).map(({ steps }) => formatSteps(steps));

test("a value that another manager owns is drift, with manager and time", () => {
  const managers = [
    entry("flotilla", spec("paused"), { operation: "Apply" }),
    entry("old", spec("replicas"), { time: "2024-05-01T11:00:00Z" }),
    entry("ann", spec("replicas"), { time: "2024-05-01T12:00:00Z" }),
  ];

  const drift = findDrift(
    { spec: { replicas: 3, paused: true } },
    { spec: { replicas: 9, paused: true } },
    managers,
    "flotilla",
  );

  expect(drift).toEqual([
    { steps: ["f:spec", "f:replicas"], ours: 3, theirs: 9, by: { manager: "ann", time: "2024-05-01T12:00:00Z" } },
  ]);
});

test("a value that we still own was only normalized by the server", () => {
  expect(
    findDrift({ spec: { cpu: "1000m" } }, { spec: { cpu: "1" } }, [entry("flotilla", spec("cpu"))], "flotilla"),
  ).toEqual([]);
});

test("fields below an atomically owned field are owned with it", () => {
  const desired = { spec: { selector: { matchLabels: { app: "web" } } } };

  expect(
    findDrift(
      desired,
      { spec: { selector: { matchLabels: { app: "WEB" } } } },
      [entry("flotilla", spec("selector"))],
      "flotilla",
    ),
  ).toEqual([]);
  expect(
    paths(
      desired,
      { spec: { selector: { matchLabels: { app: "other" } } } },
      [entry("ann", spec("selector"))],
      "flotilla",
    ),
  ).toEqual(["spec.selector.matchLabels.app"]);
});

test("owning a map does not imply owning another manager's key in it", () => {
  const managers = [entry("flotilla", { "f:data": {} }), entry("ann", { "f:data": { "f:colour": {} } })];

  expect(findDrift({ data: { colour: "blue" } }, { data: { colour: "red" } }, managers, "flotilla")).toMatchObject([
    { theirs: "red", by: { manager: "ann" } },
  ]);
});

test("a removed field is drift without a known manager", () => {
  expect(findDrift({ spec: { replicas: 3 } }, { spec: {} }, [entry("flotilla", {})], "flotilla")).toEqual([
    { steps: ["f:spec", "f:replicas"], ours: 3, theirs: undefined },
  ]);
});

describe("a list with keyed elements", () => {
  const owned = { "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {} } } } };
  const managers = [
    entry("flotilla", owned, { operation: "Apply" }),
    entry("ann", {
      "f:spec": { "f:containers": { 'k:{"name":"web"}': { "f:image": {} }, 'k:{"name":"side"}': { ".": {} } } },
    }),
  ];
  const desired = { spec: { containers: [{ name: "web", image: "web:1" }] } };

  test("may contain other managers' elements, in any order", () => {
    expect(
      findDrift(
        desired,
        { spec: { containers: [{ name: "side" }, { name: "web", image: "web:1" }] } },
        managers,
        "flotilla",
      ),
    ).toEqual([]);
  });

  test("is compared element by element", () => {
    expect(
      paths(
        desired,
        { spec: { containers: [{ name: "side" }, { name: "web", image: "web:2" }] } },
        managers,
        "flotilla",
      ),
    ).toEqual(["spec.containers[name=web].image"]);
    expect(paths(desired, { spec: { containers: [{ name: "side" }] } }, managers, "flotilla")).toEqual([
      "spec.containers[name=web]",
    ]);
  });

  test("finds an element whose key the server defaulted", () => {
    const ports = [entry("flotilla", { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } } })];

    expect(
      findDrift(
        { ports: [{ port: 80 }] },
        {
          ports: [
            { port: 443, protocol: "TCP" },
            { port: 80, protocol: "TCP" },
          ],
        },
        ports,
        "flotilla",
      ),
    ).toEqual([]);
  });
});

test("a set list may contain more elements", () => {
  const managers = [entry("flotilla", { "f:finalizers": { 'v:"ours"': {} } })];

  expect(findDrift({ finalizers: ["ours"] }, { finalizers: ["theirs", "ours"] }, managers, "flotilla")).toEqual([]);
  expect(paths({ finalizers: ["ours"] }, { finalizers: ["theirs"] }, managers, "flotilla")).toEqual(["finalizers"]);
});

test("withoutSteps removes fields by path, also inside lists, without changing the original", () => {
  const object = { spec: { replicas: 3, containers: [{ name: "web", image: "web:1" }, { name: "side" }] } };

  expect(withoutSteps(object, ["f:spec", "f:replicas"])).toEqual({ spec: { containers: object.spec.containers } });
  expect(withoutSteps(object, ["f:spec", "f:containers", 'k:{"name":"web"}', "f:image"])).toEqual({
    spec: { replicas: 3, containers: [{ name: "web" }, { name: "side" }] },
  });
  expect(withoutSteps(object, ["f:spec", "f:containers", 'k:{"name":"web"}'])).toEqual({
    spec: { replicas: 3, containers: [{ name: "side" }] },
  });
  expect(withoutSteps(object, ["f:absent", "f:deeper"])).toBe(object);
});

test("malformed managedFields do not cause a failure", () => {
  const managers = [
    entry("flotilla", { "f:list": { "k:{nonsense": {}, "k:1": {} } }),
    entry("ann", { "f:list": "nothing" }),
  ];

  expect(paths({ list: [{ name: "a" }] }, { list: [{ name: "b" }] }, managers, "flotilla")).toEqual(["list"]);
});
