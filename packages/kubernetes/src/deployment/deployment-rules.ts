/** Defaults and validation of Deployment. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  checkIntOrPercent,
  checkNotNegative,
  checkUnchanged,
  field,
  fill,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { hostnameWarning, templateWarnings } from "../pod/pod-warnings.ts";
import {
  checkCollisionCount,
  checkCounts,
  checkReplicaCounts,
  isSettled,
  specWarnings,
} from "../workloads/workload-rules.ts";
import { intOrPercentValue } from "../workloads/int-or-percent.ts";
import { checkSelectedTemplate } from "../replicaset/selected-template.ts";
import { Deployment } from "./deployment-kind.ts";

type Spec = DeepReadonly<Deployment["spec"]>;
type Strategy = NonNullable<Spec["strategy"]>;

const STEP = "25%";

function defaultSpec(spec: Spec): Spec {
  const filled: Spec = fill(spec, {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: {},
  });
  return change(change(filled, "strategy", defaultStrategy), "template", (template) => defaultPodTemplate(template));
}

function defaultStrategy(strategy: Strategy): Strategy {
  const typed: Strategy = fill(strategy, { type: "RollingUpdate" });
  if (typed.type !== "RollingUpdate") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) =>
    fill(rolling, { maxUnavailable: STEP, maxSurge: STEP }),
  );
}

function checkDeployment({ object: { spec }, oldObject, settled }: Review<Deployment>): FieldError[] {
  const errors: FieldError[] = checkNotNegative("spec.replicas", spec.replicas);
  checkSelectedTemplate(errors, spec, isSettled(spec, settled?.spec));
  checkStrategy(errors, spec.strategy ?? {});
  errors.push(
    ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...checkNotNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  );
  checkDeadline(errors, spec);
  if (oldObject) errors.push(...checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector));
  return errors;
}

function checkStrategy(errors: FieldError[], strategy: Strategy): void {
  const { type, rollingUpdate } = strategy;
  const at = "spec.strategy.rollingUpdate";
  if (type === "Recreate") {
    if (rollingUpdate) errors.push(field.forbidden(at, "may not be specified when strategy `type` is 'Recreate'"));
  } else if (type !== "RollingUpdate")
    errors.push(field.notSupported("spec.strategy", strategy, ["Recreate", "RollingUpdate"]));
  else if (!rollingUpdate) errors.push(field.required(at, "this should be defaulted and never be nil"));
  else {
    const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
    errors.push(
      ...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable),
      ...checkIntOrPercent(`${at}.maxSurge`, maxSurge),
    );
    if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0)
      errors.push(field.invalid(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
    if (typeof maxUnavailable === "string" && intOrPercentValue(maxUnavailable) > 100)
      errors.push(field.invalid(`${at}.maxUnavailable`, maxUnavailable, "must not be greater than 100%"));
  }
}

function checkDeadline(errors: FieldError[], { progressDeadlineSeconds: deadline, minReadySeconds = 0 }: Spec): void {
  if (deadline === undefined) return;
  errors.push(...checkNotNegative("spec.progressDeadlineSeconds", deadline));
  if (deadline <= minReadySeconds)
    errors.push(field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
}

function checkStatus({ object: { status = {} }, oldObject }: Review<Deployment>): FieldError[] {
  const errors: FieldError[] = [];
  checkCounts(errors, "status", status, [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ]);
  checkReplicaCounts(errors, status, ["updatedReplicas", "readyReplicas", "availableReplicas"]);
  checkCollisionCount(errors, status.collisionCount, oldObject?.status?.collisionCount);
  return errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Deployment, "apps-v1", {
    complete: (deployment) => change(deployment, "spec", defaultSpec),
    validate: checkDeployment,
    validateStatus: checkStatus,
    warnings: (review) =>
      specWarnings(review, () => [
        ...(review.operation === "CREATE" ? hostnameWarning(review.object.metadata.name) : []),
        ...templateWarnings("spec.template", review.object.spec.template),
      ]),
  }),
];
