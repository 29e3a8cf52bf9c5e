/** ReplicaSet: a number of pods of one template. */
import {
  ageColumn,
  builtInKind,
  column,
  nameColumn,
  selectorCell,
  templateColumns,
  wide,
} from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ReplicaSet as ReplicaSetFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";

export type ReplicaSet = ReplicaSetFacts;

export const ReplicaSet: Kind<ReplicaSet> = builtInKind<ReplicaSet>({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  shortNames: ["rs"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<ReplicaSet>("Desired", ({ spec }) => spec.replicas ?? 0, { type: "integer" }),
    column<ReplicaSet>("Current", ({ status }) => status?.replicas ?? 0, { type: "integer" }),
    column<ReplicaSet>("Ready", ({ status }) => status?.readyReplicas ?? 0, { type: "integer" }),
    ageColumn,
    ...templateColumns<ReplicaSet>(({ spec }) => spec.template?.spec?.containers ?? []),
    column<ReplicaSet>("Selector", ({ spec }) => selectorCell(spec.selector), wide),
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
});
