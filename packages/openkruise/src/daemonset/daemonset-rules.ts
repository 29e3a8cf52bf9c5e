/**
 * Defaults and validation of Advanced DaemonSet, as in OpenKruise's webhooks. The template is stored as sent and
 * validated with defaults.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { change, checkNotNegative, checkSelector, dnsSubdomainProblems, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import type {
  AdvancedDaemonSetRollingUpdate,
  AdvancedDaemonSetSpec,
  AdvancedDaemonSetUpdateStrategy,
} from "./daemonset-types.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { checkAtMostAll, checkIntOrPercent, percentOf } from "../api/strategy-rules.ts";
import {
  checkOwnTemplate,
  checkSelects,
  checkTemplateNeverTerminates,
  completeSelector,
  hasSettledTemplate,
  isEmptySelector,
  OPEN_TEMPLATES,
  withSelector,
} from "../api/template-rules.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { AdvancedDaemonSet } from "./daemonset-kind.ts";
import { isAlpha } from "../api/conversion.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<AdvancedDaemonSetSpec>;
type Rolling = Read<AdvancedDaemonSetRollingUpdate>;

function completeDaemonSet(set: Read<AdvancedDaemonSet>, review: Review<AdvancedDaemonSet>): Read<AdvancedDaemonSet> {
  return change(set, "spec", (given) => {
    const spec: Spec = fill(given, { burstReplicas: 250, updateStrategy: {}, revisionHistoryLimit: 10 });
    const selecting = completeSelector(spec, spec.template?.metadata?.labels, "spec.template.metadata.labels", review);
    return change(selecting, "updateStrategy", (strategy) => completeStrategy(strategy, isAlpha(set)));
  });
}

function completeStrategy(
  strategy: Read<AdvancedDaemonSetUpdateStrategy>,
  isOld: boolean,
): Read<AdvancedDaemonSetUpdateStrategy> {
  const typed: Read<AdvancedDaemonSetUpdateStrategy> = fill(strategy, { type: "RollingUpdate" });
  if (typed.type !== "RollingUpdate") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (given) => {
    let rolling: Rolling = given;
    if (isOld && rolling.rollingUpdateType === "Surging")
      rolling = { ...fill(rolling, { maxSurge: 1, maxUnavailable: 0 }), rollingUpdateType: "Standard" };
    rolling = fill(rolling, { rollingUpdateType: "Standard" });
    return rolling.maxUnavailable === undefined && rolling.maxSurge === undefined
      ? { ...rolling, maxUnavailable: 1, maxSurge: 0 }
      : rolling;
  });
}

function checkDaemonSet(review: Review<AdvancedDaemonSet>): FieldError[] {
  const { object, oldObject } = review;
  const errors: FieldError[] = [];
  if (oldObject) checkChange(errors, object, oldObject);
  else checkMetadata(errors, object.metadata, dnsSubdomainProblems);
  checkSpec(errors, review);
  return errors;
}

function checkChange(errors: FieldError[], now: Read<AdvancedDaemonSet>, before: Read<AdvancedDaemonSet>): void {
  if (equalJson(now.spec.selector ?? null, before.spec.selector ?? null)) return;
  const fields = isAlpha(now) ? "'lifecycle',  'updateStrategy'" : "'lifecycle', 'scaleStrategy', 'updateStrategy'";
  errors.push(
    field.forbidden(
      "spec",
      `updates to daemonset spec for fields other than 'BurstReplicas', 'template', ${fields}, 'minReadySeconds', and 'revisionHistoryLimit' are forbidden`,
    ),
  );
}

function checkSpec(errors: FieldError[], review: Review<AdvancedDaemonSet>): void {
  const { object } = review;
  const { selector, template, updateStrategy = {}, lifecycle } = object.spec;
  const problems = checkSelector("spec.selector", selector);
  errors.push(...problems);
  if (problems.length === 0)
    checkSelects(errors, "spec.template.metadata.labels", selector, template?.metadata?.labels, false);
  if (selector && isEmptySelector(selector))
    errors.push(field.invalid("spec.selector", selector, "empty selector is invalid for daemonset"));
  if (!hasSettledTemplate(review)) checkOwnTemplate(errors, "spec.template", template ?? {});
  checkTemplateNeverTerminates(errors, "spec.template", template, "DaemonSet");
  errors.push(...checkNotNegative("spec.minReadySeconds", object.spec.minReadySeconds));
  checkStrategy(errors, updateStrategy, isAlpha(object));
  errors.push(...checkNotNegative("spec.revisionHistoryLimit", object.spec.revisionHistoryLimit));
  if (lifecycle?.inPlaceUpdate)
    errors.push(field.forbidden("spec.lifecycle.inPlaceUpdate", "inPlaceUpdate hook has not supported yet"));
}

function checkStrategy(errors: FieldError[], strategy: Read<AdvancedDaemonSetUpdateStrategy>, isOld: boolean): void {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate")
    errors.push(field.notSupported("spec.updateStrategy", strategy, ["RollingUpdate", "OnDelete"]));
  else if (rollingUpdate) checkRolling(errors, rollingUpdate, isOld);
  else errors.push(field.required("spec.updateStrategy.rollingUpdate"));
}

/** The number, or the number of percents; other text counts as its leading number, or as zero. */
const amountOf = (value: IntOrString): number =>
  typeof value === "number" ? value : (percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0));

function checkRolling(errors: FieldError[], rolling: Rolling, isOld: boolean): void {
  const at = "spec.updateStrategy.rollingUpdate";
  const { maxUnavailable = 0, maxSurge = 0, partition } = rolling;
  const isUsed = (name: string, value: IntOrString): boolean => {
    if (amountOf(value) === 0) return false;
    errors.push(...checkIntOrPercent(`${at}.${name}`, value), ...checkAtMostAll(`${at}.${name}`, value));
    return true;
  };
  const [unavailable, surge] = [isUsed("maxUnavailable", maxUnavailable), isUsed("maxSurge", maxSurge)];
  if (unavailable && surge)
    errors.push(field.invalid(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  else if (!unavailable && !surge)
    errors.push(field.required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  checkType(errors, at, rolling, { unavailable, surge, isOld });
  // Upstream repeats the parent's name.
  if (partition !== undefined)
    errors.push(
      ...checkIntOrPercent(`${at}.rollingUpdate.partition`, partition),
      ...checkAtMostAll(`${at}.rollingUpdate.partition`, partition),
    );
}

function checkType(
  errors: FieldError[],
  at: string,
  { rollingUpdateType: type = "" }: Rolling,
  { unavailable, surge, isOld }: { unavailable: boolean; surge: boolean; isOld: boolean },
): void {
  if (type === "" || type === "Standard") return;
  if (type === "InPlaceIfPossible") {
    if (surge) errors.push(field.required(`${at}.maxSurge`, "must be 0 for InPlaceIfPossible type"));
  } else if (isOld && type === "Surging") {
    if (unavailable) errors.push(field.required(`${at}.maxUnavailable`, "must be 0 for Surging type"));
  } else
    errors.push(
      field.notSupported(
        `${at}.rollingUpdate.type`,
        type,
        isOld ? ["Standard", "Surging", "InPlaceIfPossible"] : ["Standard", "InPlaceIfPossible"],
      ),
    );
}

export const daemonSetRules: AnyAdmission[] = [
  kruiseAdmission(AdvancedDaemonSet, {
    name: "daemonset",
    code: (operation) => (operation === "CREATE" ? 500 : 422),
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeDaemonSet,
    check: checkDaemonSet,
    prepare: withSelector,
  }),
];
