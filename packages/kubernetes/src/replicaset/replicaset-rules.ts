/** Defaults and validation of ReplicaSet. */
import { builtInAdmission, change, checkNotNegative, checkUnchanged, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { hostnameWarning, templateWarnings } from "../pod/pod-warnings.ts";
import { checkSelectedTemplate } from "./selected-template.ts";
import { checkCounts, checkReplicaCounts, isSettled, specWarnings } from "../workloads/workload-rules.ts";
import { ReplicaSet } from "./replicaset-kind.ts";

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

export const rules: AnyAdmission[] = [
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
