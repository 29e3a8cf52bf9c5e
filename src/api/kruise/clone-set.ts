/** CloneSet: OpenKruise's Deployment, with in-place updates, a partition, and pods that can be chosen for deletion. */
import type { AnyAdmission } from "../admission.ts";
import { AGE, lazyVersion } from "../define.ts";
import { definitionSchema } from "../facts.ts";
import type { Column, Kind } from "../kind.ts";
import { checkCloneSet, completeCloneSet } from "./clone-set-rules.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./clone-set-versions.ts";
import type { CloneSet as CloneSetType } from "./clone-set-types.ts";
import type { KruiseGates } from "./gates.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseAdmission } from "./webhook.ts";

export type CloneSet = CloneSetType;

const columns: Column[] = [
  { name: "DESIRED", type: "integer", jsonPath: ".spec.replicas" },
  { name: "UPDATED", type: "integer", jsonPath: ".status.updatedReplicas" },
  { name: "UPDATED_READY", type: "integer", jsonPath: ".status.updatedReadyReplicas" },
  { name: "UPDATED_AVAILABLE", type: "integer", jsonPath: ".status.updatedAvailableReplicas" },
  { name: "READY", type: "integer", jsonPath: ".status.readyReplicas" },
  { name: "TOTAL", type: "integer", jsonPath: ".status.replicas" },
  AGE,
  { name: "CONTAINERS", type: "string", jsonPath: ".spec.template.spec.containers[*].name", priority: 1 },
  { name: "IMAGES", type: "string", jsonPath: ".spec.template.spec.containers[*].image", priority: 1 },
  { name: "SELECTOR", type: "string", jsonPath: ".status.labelSelector", priority: 1 },
];

export const CloneSet: Kind<CloneSet> = {
  group: "apps.kruise.io",
  kind: "CloneSet",
  plural: "clonesets",
  shortNames: ["clone"],
  scope: "Namespaced",
  storageVersion: "v1beta1",
  versions: {
    v1beta1: lazyVersion(columns, v1beta1Schema),
    v1alpha1: lazyVersion(columns, () => definitionSchema("clonesets.apps.kruise.io", "v1alpha1"), { toStorage, fromStorage }),
  },
  subresources: {
    status: true,
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.labelSelector" },
  },
  builtIn: false,
  hasGeneration: true,
};

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(CloneSet, { name: "cloneset", code: 422, tables: { v1alpha1: "apps-kruise-v1alpha1" }, open: OPEN_TEMPLATES, complete: completeCloneSet(gates), check: checkCloneSet, prepare: withSelector }),
];
