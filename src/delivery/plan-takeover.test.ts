import { expect, test } from "vitest";
import type { ManagedFieldsEntry } from "../api/index.ts";
import { planTakeover } from "./plan-takeover.ts";

const entry = (manager: string, operation: "Apply" | "Update", field: string, subresource?: string): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": { [`f:${field}`]: {} } },
  ...(subresource && { subresource }),
});

test("what we created becomes ours by apply", () => {
  expect(planTakeover([entry("flotilla", "Update", "replicas"), entry("kubectl", "Update", "paused")], "flotilla", false)).toEqual([entry("kubectl", "Update", "paused"), entry("flotilla", "Apply", "replicas")]);
});

test("what Karmada wrote by PUT becomes ours as well, together with what is ours already", () => {
  const taken = planTakeover([entry("flotilla", "Apply", "replicas"), entry("karmada-controller-manager", "Update", "paused")], "flotilla", false);

  expect(taken).toEqual([{ ...entry("flotilla", "Apply", "replicas"), fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } } }]);
});

test("status and the fields of others stay theirs, and nothing is done twice", () => {
  expect(planTakeover([entry("flotilla", "Apply", "replicas"), entry("karmada-controller-manager", "Update", "replicas", "status"), entry("hpa", "Update", "replicas")], "flotilla", false)).toBeUndefined();
});

test("an object that is adopted changes hands whole, whoever wrote it and how", () => {
  const taken = planTakeover([entry("kubectl", "Apply", "paused"), entry("editor", "Update", "replicas"), entry("kubelet", "Update", "replicas", "status")], "flotilla", true);

  expect(taken).toEqual([entry("kubelet", "Update", "replicas", "status"), { ...entry("flotilla", "Apply", "paused"), fieldsV1: { "f:spec": { "f:paused": {}, "f:replicas": {} } } }]);
});
