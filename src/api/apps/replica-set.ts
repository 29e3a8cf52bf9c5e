/** ReplicaSet: a number of pods of one template. */
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn, selectorCell, templateColumns, wide } from "../columns.ts";
import { defaultPodTemplate } from "../core/pod-defaults.ts";
import { checkPodTemplate } from "../core/pod-validation.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { ReplicaSet as ReplicaSetFacts } from "../facts/apps-v1.ts";
import { checkNotNegative, checkUnchanged, checkWorkloadSelector } from "../field-errors.ts";
import { change, fill } from "../fill.ts";
import type { Kind } from "../kind.ts";

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
  subresources: { status: true, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".spec.selector" } },
  hasGeneration: true,
});

export const admissions: AnyAdmission[] = [
  builtInAdmission(ReplicaSet, "apps-v1", {
    complete: (set) => change(set, "spec", (spec) => change(fill(spec, { replicas: 1 }), "template", (template) => defaultPodTemplate(template))),
    validate: ({ object: { spec }, oldObject }) => [
      ...checkNotNegative("spec.replicas", spec.replicas),
      ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
      ...checkWorkloadSelector(spec.selector, spec.template?.metadata?.labels),
      ...(spec.template ? checkPodTemplate("spec.template", spec.template) : []),
      ...(oldObject ? checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector) : []),
    ],
  }),
];
