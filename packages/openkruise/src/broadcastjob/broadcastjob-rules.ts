/** Defaults and validation of BroadcastJob, as in OpenKruise's webhooks; the same for both versions. */
import type { DeepReadonly } from "@flotilla/base";
import { change, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { BroadcastJobSpec } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { plainNameProblems } from "../api/strategy-rules.ts";
import {
  checkOwnTemplate,
  completesTemplate,
  completeTemplate,
  hasSettledTemplate,
  OPEN_TEMPLATES,
} from "../api/template-rules.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { BroadcastJob } from "./broadcastjob-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

type Read<T> = DeepReadonly<T>;

const MAX_INT32 = 2 ** 31 - 1;
const NAME_LABEL = "broadcastjob-name";
const CONTROLLER_LABEL = "broadcastjob-controller-uid";

const completeBroadcastJob =
  (gates: FeatureGates) =>
  (job: Read<BroadcastJob>, { oldObject }: Review<BroadcastJob>): Read<BroadcastJob> =>
    change(job, "spec", (given) => {
      let spec: Read<BroadcastJobSpec> = fill(given, {
        completionPolicy: {},
        failurePolicy: {},
        parallelism: MAX_INT32,
      });
      spec = change(spec, "completionPolicy", (policy) => fill(policy, { type: "Always" }));
      spec = change(spec, "failurePolicy", (policy) => fill(policy, { type: "FailFast" }));
      return completesTemplate(spec.template, oldObject, gates) ? change(spec, "template", completeTemplate) : spec;
    });

function checkBroadcastJob(review: Review<BroadcastJob>): FieldError[] {
  const { object } = review;
  const { completionPolicy = {}, template } = object.spec;
  const errors: FieldError[] = [];
  checkMetadata(errors, object.metadata, plainNameProblems("BroadcastJob"));
  if (completionPolicy.type === "Never") {
    for (const name of ["ttlSecondsAfterFinished", "activeDeadlineSeconds"] as const) {
      if (completionPolicy[name] !== undefined)
        errors.push(
          field.invalid(
            `spec.completionPolicy.${name}`,
            completionPolicy[name],
            `${name} can just work with Always CompletionPolicyType`,
          ),
        );
    }
  }
  const { restartPolicy = "Always" } = template?.spec ?? {};
  if (restartPolicy !== "OnFailure" && restartPolicy !== "Never")
    errors.push(
      field.invalid(
        "spec.template.spec.restartPolicy",
        restartPolicy,
        "pod restartPolicy can only be Never or OnFailure",
      ),
    );
  const labels = template?.metadata?.labels;
  if (labels?.[NAME_LABEL] || labels?.[CONTROLLER_LABEL]) {
    errors.push(
      field.invalid(
        "spec.template.metadata.labels",
        labels,
        `"${NAME_LABEL}" and "${CONTROLLER_LABEL}" are not allowed to preset in pod labels`,
      ),
    );
  }
  if (!hasSettledTemplate(review)) checkOwnTemplate(errors, "spec.template", template ?? {});
  return errors;
}

export const broadcastJobRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(BroadcastJob, {
    name: "broadcastjob",
    code: 500,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeBroadcastJob(gates),
    check: checkBroadcastJob,
  }),
];
