import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { CSINode } from "./csi-node.ts";
import { csiNodeRules } from "./csi-node-rules.ts";

const node = (...drivers: object[]): CSINode =>
  ({ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: "node-1" }, spec: { drivers } }) as CSINode;

test("a driver is registered once, with a name and a node ID", () => {
  expect(problemsOf([csiNodeRules], node({ name: "a.b", nodeID: "x" }, { name: "a.b", nodeID: "" }))).toEqual([
    "spec.drivers[1].nodeID: Required value",
    'spec.drivers[1].name: Duplicate value: "a.b"',
  ]);
});

test("topology keys must be unique label keys", () => {
  expect(problemsOf([csiNodeRules], node({ name: "a.b", nodeID: "x", topologyKeys: ["zone", "zone"] }))).toEqual([
    'spec.drivers[0]: Duplicate value: "zone"',
  ]);
});

test("only the volume limit of a registered driver may change", () => {
  const old = completedBy([csiNodeRules], node({ name: "a.b", nodeID: "x", allocatable: { count: 1 } }));

  expect(problemsOf([csiNodeRules], node({ name: "a.b", nodeID: "x", allocatable: { count: 2 } }), old)).toEqual([]);
  expect(problemsOf([csiNodeRules], node({ name: "a.b", nodeID: "y" }), old)).toEqual([
    'spec.drivers: Invalid value: {"name":"a.b","nodeID":"y"}: field is immutable',
  ]);
  expect(problemsOf([csiNodeRules], node({ name: "c.d", nodeID: "y" }), old)).toEqual([]);
});

test("empty topology keys are not stored", () => {
  expect(completedBy([csiNodeRules], node({ name: "a.b", nodeID: "x" })).spec.drivers).toEqual([
    { name: "a.b", nodeID: "x" },
  ]);
});
