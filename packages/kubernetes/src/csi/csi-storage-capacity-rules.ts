/** CSIStorageCapacity: defaults and validation, loaded when the first object is written. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  checkSelector,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Review } from "@flotilla/apimachinery";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import { checkQuantityNotNegative } from "../resources/resource-names.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { CSIStorageCapacity } from "./csi-storage-capacity.ts";

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

export const csiStorageCapacityRules = builtInAdmission(CSIStorageCapacity, "storage-v1", {
  validate: checkCapacity,
  warnings: ({ object }) => topologyWarnings(object.nodeTopology ?? {}),
});
