/** Defaults and validation of DaemonSet. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  checkIntOrPercent,
  checkNotNegative,
  checkSelector,
  checkUnchanged,
  field,
  fill,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { checkPodTemplate } from "../pod/pod-validation.ts";
import { templateWarnings } from "../pod/pod-warnings.ts";
import { intOrPercentValue } from "../workloads/int-or-percent.ts";
import {
  checkCollisionCount,
  checkCounts,
  checkSelects,
  isEmpty,
  isSettled,
  specWarnings,
} from "../workloads/workload-rules.ts";
import { DaemonSet } from "./daemonset-kind.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<DaemonSet["spec"]>;
type Strategy = NonNullable<Spec["updateStrategy"]>;

/** Counts the versions of the template. The original field was removed; the annotation replaces it. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

function defaultSpec(spec: Spec): Spec {
  const filled: Spec = fill(spec, { updateStrategy: {}, revisionHistoryLimit: 10 });
  return change(change(filled, "updateStrategy", defaultStrategy), "template", (template) =>
    defaultPodTemplate(template),
  );
}

function defaultStrategy(strategy: Strategy): Strategy {
  const typed: Strategy = fill(strategy, { type: "RollingUpdate" });
  if (typed.type !== "RollingUpdate") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) =>
    fill(rolling, { maxUnavailable: 1, maxSurge: 0 }),
  );
}

const generationOf = (set: Read<DaemonSet> | undefined): number =>
  Number(set?.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0) || 0;

function withGeneration(set: Read<DaemonSet>, generation: number): Read<DaemonSet> {
  if (set.metadata.annotations?.[TEMPLATE_GENERATION] === String(generation)) return set;
  return {
    ...set,
    metadata: {
      ...set.metadata,
      annotations: { ...set.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) },
    },
  };
}

/** Clients cannot set the number: it starts at one and increases with every new template. */
function prepare(set: Read<DaemonSet>, { oldObject }: Review<DaemonSet>): Read<DaemonSet> {
  if (!oldObject) return withGeneration(set, Math.max(1, generationOf(set)));
  return withGeneration(set, generationOf(oldObject) + (equalJson(set.spec.template, oldObject.spec.template) ? 0 : 1));
}

function checkDaemonSet({ object: { spec }, oldObject, settled }: Review<DaemonSet>): FieldError[] {
  const errors: FieldError[] = [];
  if (oldObject) errors.push(...checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector));
  const { selector, template } = spec;
  const problems = checkSelector("spec.selector", selector);
  errors.push(...problems);
  if (problems.length === 0) checkSelects(errors, "spec.template", selector, template);
  if (selector && isEmpty(selector))
    errors.push(field.invalid("spec.selector", selector, "empty selector is invalid for daemonset"));
  if (!isSettled(spec, settled?.spec)) errors.push(...checkPodTemplate("spec.template", template ?? {}, "DaemonSet"));
  errors.push(...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds));
  checkStrategy(errors, spec.updateStrategy ?? {});
  errors.push(...checkNotNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit));
  return errors;
}

function checkStrategy(errors: FieldError[], strategy: Strategy): void {
  const { type, rollingUpdate } = strategy;
  const at = "spec.updateStrategy.rollingUpdate";
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate")
    return void errors.push(field.notSupported("spec.updateStrategy", strategy, ["RollingUpdate", "OnDelete"]));
  if (!rollingUpdate) return void errors.push(field.required(at));
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  errors.push(
    ...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable),
    ...checkIntOrPercent(`${at}.maxSurge`, maxSurge),
  );
  for (const [name, value] of [
    ["maxUnavailable", maxUnavailable],
    ["maxSurge", maxSurge],
  ] as const) {
    if (typeof value === "string" && intOrPercentValue(value) > 100)
      errors.push(field.invalid(`${at}.${name}`, value, "must not be greater than 100%"));
  }
  const [unavailable, surge] = [intOrPercentValue(maxUnavailable), intOrPercentValue(maxSurge)];
  if (unavailable !== 0 && surge !== 0)
    errors.push(field.invalid(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  else if (unavailable === 0 && surge === 0)
    errors.push(field.required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
}

function checkStatus({ object: { status }, oldObject }: Review<DaemonSet>): FieldError[] {
  const errors: FieldError[] = [];
  if (!status) return errors;
  checkCounts(errors, "status", status, [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ]);
  checkCollisionCount(errors, status.collisionCount, oldObject?.status?.collisionCount);
  return errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(DaemonSet, "apps-v1", {
    // The writer of the set owns the annotation, as if it had sent it.
    complete: (set) => withGeneration(change(set, "spec", defaultSpec), generationOf(set)),
    prepare,
    validate: checkDaemonSet,
    validateStatus: checkStatus,
    warnings: (review) => specWarnings(review, () => templateWarnings("spec.template", review.object.spec.template)),
  }),
];
