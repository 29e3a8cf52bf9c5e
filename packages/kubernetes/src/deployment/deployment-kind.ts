/** Deployment: replicas of a pod template, rolled from one version to the next. */
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
import type { Deployment as DeploymentFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";

export type Deployment = DeploymentFacts;

export const Deployment: Kind<Deployment> = builtInKind<Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  shortNames: ["deploy"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<Deployment>("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    column<Deployment>("Up-to-date", ({ status }) => status?.updatedReplicas ?? 0),
    column<Deployment>("Available", ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...templateColumns<Deployment>(({ spec }) => spec.template.spec?.containers ?? []),
    column<Deployment>("Selector", ({ spec }) => selectorCell(spec.selector), wide),
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
});
