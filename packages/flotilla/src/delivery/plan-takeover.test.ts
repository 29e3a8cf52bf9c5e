import { describe, expect, test } from "vitest";
import type { KubernetesObject, ManagedFieldsEntry } from "@flotilla/apimachinery";
import { planTakeover } from "./plan-takeover.ts";
import type { Takeover } from "./plan-takeover.ts";

const entry = (
  manager: string,
  operation: "Apply" | "Update",
  field: string,
  subresource?: string,
): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": { [`f:${field}`]: {} } },
  subresource: subresource || undefined,
});
const object = (managedFields: ManagedFieldsEntry[] = [], template: object = {}): KubernetesObject =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", managedFields },
    spec: { template },
  }) as KubernetesObject;
const plan = (managedFields: ManagedFieldsEntry[], changes: Partial<Takeover> = {}) =>
  planTakeover({
    manager: "flotilla",
    manifest: object(),
    observed: object(managedFields),
    isAdopted: false,
    ...changes,
  });

test("fields that we created become ours by apply", () => {
  expect(plan([entry("flotilla", "Update", "replicas"), entry("kubectl", "Update", "paused")])).toEqual([
    entry("kubectl", "Update", "paused"),
    entry("flotilla", "Apply", "replicas"),
  ]);
});

test("fields that Karmada wrote by PUT become ours too, merged with those we already own", () => {
  const taken = plan([entry("flotilla", "Apply", "replicas"), entry("karmada-controller-manager", "Update", "paused")]);

  expect(taken).toEqual([
    { ...entry("flotilla", "Apply", "replicas"), fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } } },
  ]);
});

test("status and other managers' fields stay theirs, and a second run changes nothing", () => {
  expect(
    plan([
      entry("flotilla", "Apply", "replicas"),
      entry("karmada-controller-manager", "Update", "replicas", "status"),
      entry("hpa", "Update", "replicas"),
    ]),
  ).toBeUndefined();
});

test("an adopted object is taken over completely, regardless of its managers and their operations", () => {
  const taken = plan(
    [
      entry("kubectl", "Apply", "paused"),
      entry("editor", "Update", "replicas"),
      entry("kubelet", "Update", "replicas", "status"),
    ],
    { isAdopted: true },
  );

  expect(taken).toEqual([
    entry("kubelet", "Update", "replicas", "status"),
    { ...entry("flotilla", "Apply", "paused"), fieldsV1: { "f:spec": { "f:paused": {}, "f:replicas": {} } } },
  ]);
});

test("a field of ours that is left to the member moves to the keeper, so that omitting it does not remove it", () => {
  const kept = plan([entry("flotilla", "Apply", "replicas")], { left: [["spec", "replicas"]] });

  expect(kept).toEqual([
    { ...entry("flotilla", "Apply", "replicas"), fieldsV1: {} },
    { ...entry("flotilla-retained", "Update", "replicas") },
  ]);
  expect(plan([entry("hpa", "Update", "replicas", "scale")], { left: [["spec", "replicas"]] })).toBeUndefined();
});

describe("the pod template of an adopted object", () => {
  const fieldsV1 = {
    "f:spec": {
      "f:paused": {},
      "f:template": {
        "f:metadata": { "f:annotations": { ".": {}, "f:restartedAt": {} } },
        "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } } },
      },
    },
  };
  const theirs: ManagedFieldsEntry = { ...entry("kubectl", "Update", "paused"), fieldsV1 };
  const containers = [{ name: "web", image: "web:1" }];
  const observed = object([theirs], { metadata: { annotations: { restartedAt: "today" } }, spec: { containers } });

  test("keeps fields that the manifest does not mention, if the manifest changes nothing in it", () => {
    const [kept, ours] = plan([], { isAdopted: true, observed, manifest: object([], { spec: { containers } }) }) ?? [];

    expect(kept).toMatchObject({
      manager: "kubectl",
      fieldsV1: { "f:spec": { "f:template": { "f:metadata": { "f:annotations": { "f:restartedAt": {} } } } } },
    });
    expect(ours?.fieldsV1).toEqual({
      "f:spec": {
        "f:paused": {},
        "f:template": { "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } } } },
      },
    });
  });

  test("belongs to the manifest completely when the manifest changes it", () => {
    const taken = plan([], {
      isAdopted: true,
      observed,
      manifest: object([], { spec: { containers: [{ name: "web", image: "web:2" }] } }),
    });

    expect(taken).toEqual([{ ...theirs, manager: "flotilla", operation: "Apply" }]);
  });
});
