/** ReplicationController: the predecessor of ReplicaSet, without selector operators. */
import { ageColumn, builtInKind, column, labelsCell, nameColumn, templateColumns, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ReplicationController as ReplicationControllerFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type ReplicationController = ReplicationControllerFacts;

export const ReplicationController: Kind<ReplicationController> = builtInKind<ReplicationController>({
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  shortNames: ["rc"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<ReplicationController>("Desired", ({ spec }) => spec?.replicas ?? 0, { type: "integer" }),
    column<ReplicationController>("Current", ({ status }) => status?.replicas ?? 0, { type: "integer" }),
    column<ReplicationController>("Ready", ({ status }) => status?.readyReplicas ?? 0, { type: "integer" }),
    ageColumn,
    ...templateColumns<ReplicationController>(({ spec }) => spec?.template?.spec?.containers ?? []),
    column<ReplicationController>("Selector", ({ spec }) => labelsCell(spec?.selector), wide),
  ],
  subresources: {
    status: true,
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".spec.selector",
    },
  },
  hasGeneration: true,
  traits: {
    orphansDependents: true,
    selectableFields: {
      "status.replicas": ({ status }) => String((status as { replicas?: number } | undefined)?.replicas ?? 0),
    },
  },
});
