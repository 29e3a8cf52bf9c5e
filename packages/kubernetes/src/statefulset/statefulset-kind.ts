/** StatefulSet: pods that each have a stable identity, an ordinal and their own volumes. */
import { ageColumn, builtInKind, column, nameColumn, templateColumns } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { StatefulSet as StatefulSetFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";

export type StatefulSet = StatefulSetFacts;

export const StatefulSet: Kind<StatefulSet> = builtInKind<StatefulSet>({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  shortNames: ["sts"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<StatefulSet>("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    ageColumn,
    ...templateColumns<StatefulSet>(({ spec }) => spec.template.spec?.containers ?? []),
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
  workload: {},
  traits: { names: "label" },
});
