/** Defaults and validation of ReplicationController. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, checkNotNegative, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { checkCounts, checkReplicaCounts, isSettled, specWarnings } from "../workloads/workload-rules.ts";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { checkPodTemplate } from "../pod/pod-validation.ts";
import { hostnameWarning, templateWarnings } from "../pod/pod-warnings.ts";
import { ReplicationController } from "./replicationcontroller-kind.ts";

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
  if (!isEmpty && !selects(selector, template.metadata?.labels))
    errors.push(
      field.invalid(
        "spec.template.metadata.labels",
        template.metadata?.labels,
        "`selector` does not match template `labels`",
      ),
    );
  if (!isSettled(spec, settled?.spec))
    errors.push(...checkPodTemplate("spec.template", template, "ReplicationController"));
  return errors;
}

/** Kubernetes does not validate this selector, unlike those of other workloads. */
function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
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

export const rules: AnyAdmission[] = [
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
