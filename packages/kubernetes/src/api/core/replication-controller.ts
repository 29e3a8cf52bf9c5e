/** ReplicationController: the predecessor of ReplicaSet, without selector operators. */
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { checkCounts, checkReplicaCounts, checkSelects, isSettled, specWarnings } from "../apps/workload-rules.ts";
import { ageColumn, column, labelsCell, nameColumn, templateColumns, wide } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ReplicationController as ReplicationControllerFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkNotNegative } from "@flotilla/apimachinery";
import { change, fill } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "./pod-defaults.ts";
import { checkPodTemplate } from "./pod-validation.ts";
import { hostnameWarning, templateWarnings } from "./pod-warnings.ts";

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

type Read = DeepReadonly<ReplicationController>;

/** The template's labels default the controller's labels and selector. */
function complete(controller: Read): Read {
  const result = change(controller, "spec", (spec) =>
    change(fill(spec, { replicas: 1 }), "template", (template) => defaultPodTemplate(template)),
  );
  const labels = result.spec?.template?.metadata?.labels;
  if (!labels) return result;
  const selected = change(result, "spec", (spec) => fill(spec, { selector: labels }));
  return change(selected, "metadata", (metadata) => fill(metadata, { labels }));
}

function checkController({ object: { spec = {} }, settled }: Review<ReplicationController>): FieldError[] {
  const errors: FieldError[] = checkNotNegative("spec.minReadySeconds", spec.minReadySeconds);
  const { selector = {}, template } = spec;
  const isEmpty = Object.keys(selector).length === 0;
  if (isEmpty) errors.push(field.required("spec.selector"));
  if (spec.replicas === undefined) errors.push(field.required("spec.replicas"));
  else errors.push(...checkNotNegative("spec.replicas", spec.replicas));
  if (!template) return [...errors, field.required("spec.template")];
  if (!isEmpty) checkSelects(errors, "spec.template", { matchLabels: selector }, template);
  if (!isSettled(spec, settled?.spec))
    errors.push(...checkPodTemplate("spec.template", template, "ReplicationController"));
  return errors;
}

function checkStatus({ object: { status } }: Review<ReplicationController>): FieldError[] {
  const errors: FieldError[] = [];
  if (!status) return errors;
  checkCounts(errors, "status", status, [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
  ]);
  checkReplicaCounts(errors, status, ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
  return errors;
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(ReplicationController, "core-v1", {
    complete,
    validate: checkController,
    validateStatus: checkStatus,
    warnings: (review) =>
      specWarnings(review, () => [
        ...(review.operation === "CREATE" ? hostnameWarning(review.object.metadata.name) : []),
        ...templateWarnings("spec.template", review.object.spec?.template ?? {}),
      ]),
  }),
];
