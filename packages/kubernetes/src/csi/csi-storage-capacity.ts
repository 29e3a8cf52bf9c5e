/** CSIStorageCapacity: the remaining capacity of a storage class for one part of the cluster. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  builtInKind,
  checkSelector,
  checkText,
  checkUnchanged,
  createdColumn,
  dnsSubdomainProblems,
  nameColumn,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind, Review } from "@flotilla/apimachinery";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import { checkQuantityNotNegative } from "../resources/resource-names.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { CSIStorageCapacity as CSIStorageCapacityFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type CSIStorageCapacity = CSIStorageCapacityFacts;

export const CSIStorageCapacity: Kind<CSIStorageCapacity> = builtInKind<CSIStorageCapacity>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  scope: "Namespaced",
  facts: "storage-v1",
  columns: [nameColumn, createdColumn],
  traits: { requiresVersion: true, metadataChecks: { update: true, create: true } },
});

function checkCapacity({
  object: { nodeTopology, storageClassName, capacity },
  oldObject,
}: Review<CSIStorageCapacity>): FieldError[] {
  // Invalid stored values may be kept.
  const lenient = checkSelector("", oldObject?.nodeTopology).length > 0;
  const errors = checkSelector("nodeTopology", nodeTopology, lenient);
  errors.push(...checkText("storageClassName", storageClassName, dnsSubdomainProblems));
  if (capacity !== undefined) errors.push(...checkQuantityNotNegative("capacity", capacity));
  if (!oldObject) return errors;
  errors.push(...checkUnchanged("nodeTopology", nodeTopology, oldObject.nodeTopology));
  errors.push(...checkUnchanged("storageClassName", storageClassName, oldObject.storageClassName));
  return errors;
}

function topologyWarnings({ matchExpressions = [], matchLabels = {} }: DeepReadonly<LabelSelector>): string[] {
  const warnings: string[] = [];
  for (const [index, { key }] of matchExpressions.entries()) {
    const advice = deprecatedNodeLabel(key);
    if (advice !== undefined) warnings.push(`nodeTopology.matchExpressions[${index}].key: ${key} is ${advice}`);
  }
  for (const label of Object.keys(matchLabels)) {
    const advice = deprecatedNodeLabel(label);
    if (advice !== undefined) warnings.push(`nodeTopology.matchLabels.${label}: ${advice}`);
  }
  return warnings;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(CSIStorageCapacity, "storage-v1", {
    validate: checkCapacity,
    warnings: ({ object }) => topologyWarnings(object.nodeTopology ?? {}),
  }),
];

export const csiStorageCapacity = defineKind({
  kind: CSIStorageCapacity,
  rules,
  example: exampleOf(CSIStorageCapacity, { storageClassName: "fast" }),
});
