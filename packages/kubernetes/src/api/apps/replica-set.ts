/** ReplicaSet: a number of pods of one template. */
import type { FieldError } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn, selectorCell, templateColumns, wide } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "../core/pod-defaults.ts";
import { hostnameWarning, templateWarnings } from "../core/pod-warnings.ts";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ReplicaSet as ReplicaSetFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";
import { checkNotNegative, checkUnchanged } from "@flotilla/apimachinery";
import { change, fill } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { checkSelectedTemplate } from "./deployment.ts";
import { checkCounts, checkReplicaCounts, isSettled, specWarnings } from "./workload-rules.ts";

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

function checkReplicaSet({ object: { spec }, oldObject, settled }: Review<ReplicaSet>): FieldError[] {
  const errors: FieldError[] = [
    ...checkNotNegative("spec.replicas", spec.replicas),
    ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
  ];
  checkSelectedTemplate(errors, spec, isSettled(spec, settled?.spec));
  if (oldObject) errors.push(...checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector));
  return errors;
}

function checkStatus({ object: { status } }: Review<ReplicaSet>): FieldError[] {
  const errors: FieldError[] = [];
  if (!status) return errors;
  checkCounts(errors, "status", status, [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ]);
  checkReplicaCounts(errors, status, ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
  return errors;
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(ReplicaSet, "apps-v1", {
    complete: (set) =>
      change(set, "spec", (spec) =>
        change(fill(spec, { replicas: 1 }), "template", (template) => defaultPodTemplate(template)),
      ),
    validate: checkReplicaSet,
    validateStatus: checkStatus,
    warnings: (review) =>
      specWarnings(review, () => [
        ...(review.operation === "CREATE" ? hostnameWarning(review.object.metadata.name) : []),
        ...templateWarnings("spec.template", review.object.spec.template ?? {}),
      ]),
  }),
];
