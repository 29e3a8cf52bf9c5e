/**
 * Validation of PodUnavailableBudget, as in OpenKruise's webhook. Fields that v1alpha1 has as annotations are validated
 * there.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { checkSelector, deniedByWebhook, field, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, KindRef, Review } from "@flotilla/apimachinery";
import type { PodUnavailableBudgetSpec, PodUnavailableBudgetTarget } from "./podunavailablebudget-types.ts";
import {
  PROTECT_OPERATIONS_ANNOTATION,
  PROTECT_TOTAL_REPLICAS_ANNOTATION,
  PUB_OPERATIONS,
} from "./podunavailablebudget-versions.ts";
import { selectorsAgree } from "../api/selector-overlap.ts";
import { checkAtMostAll, checkIntOrPercent } from "../api/strategy-rules.ts";
import { isEmptySelector } from "../api/template-rules.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

const BUDGETS: KindRef<PodUnavailableBudget> = { group: "policy.kruise.io", plural: "podunavailablebudgets" };

type Read<T> = DeepReadonly<T>;
type Spec = Read<PodUnavailableBudgetSpec>;

const checkBudget =
  (gates: FeatureGates) =>
  (review: Review<PodUnavailableBudget>): FieldError[] => {
    if (!gates.isOn("PodUnavailableBudgetDeleteGate") && !gates.isOn("PodUnavailableBudgetUpdateGate")) {
      throw deniedByWebhook(
        "vpodunavailablebudget.kb.io",
        400,
        "feature PodUnavailableBudget is invalid, please open via feature-gate(PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate)",
      );
    }
    const { object, oldObject } = review;
    const spec = object.spec ?? {};
    const errors: FieldError[] = [];
    checkAnnotations(errors, object.metadata.annotations ?? {});
    checkSpec(errors, spec);
    if (oldObject && !equalJson(boundTo(spec), boundTo(oldObject.spec ?? {})))
      errors.push(field.required("spec.selector, targetRef", "selector and targetRef cannot be modified"));
    if (!isHub(review)) checkOthers(errors, review);
    return errors;
  };

const boundTo = ({ selector, targetRef }: Spec): unknown => [selector ?? null, targetRef ?? null];

function checkAnnotations(errors: FieldError[], annotations: Readonly<Record<string, string>>): void {
  const reportConflict = (name: string): void =>
    void errors.push(field.internal("metadata", `annotation[${name}] is invalid`));
  for (const operation of annotations[PROTECT_OPERATIONS_ANNOTATION]?.split(",") ?? [])
    if (!PUB_OPERATIONS.includes(operation)) reportConflict(PROTECT_OPERATIONS_ANNOTATION);
  const replicas = annotations[PROTECT_TOTAL_REPLICAS_ANNOTATION];
  if (replicas !== undefined && !isInt32(replicas)) reportConflict(PROTECT_TOTAL_REPLICAS_ANNOTATION);
}

const isInt32 = (text: string): boolean =>
  /^[+-]?\d+$/.test(text) && Number(text) < 2 ** 31 && Number(text) >= -(2 ** 31);

function checkSpec(errors: FieldError[], given: Spec): void {
  const { selector, targetRef, maxUnavailable, minAvailable, ignoredPodSelector } = given;
  const bound = "spec.selector, targetRef";
  if (!selector && !targetRef)
    errors.push(field.required(bound, "no selector or targetRef defined in PodUnavailableBudget"));
  else if (selector && targetRef) errors.push(field.required(bound, "selector and targetRef are mutually exclusive"));
  else if (targetRef) checkTarget(errors, targetRef);
  else if (selector) {
    const problems = checkSelector("spec.selector", selector);
    errors.push(...problems);
    if (isEmptySelector(selector))
      errors.push(field.invalid("spec.selector", selector, "empty selector is not valid for PodUnavailableBudget."));
    if (problems.length > 0) errors.push(field.invalid("spec.selector", selector));
  }
  if (ignoredPodSelector) errors.push(...checkSelector("spec.ignoredPodSelector", ignoredPodSelector));
  const amounts = "spec.maxUnavailable, minAvailable";
  if (maxUnavailable === undefined && minAvailable === undefined)
    errors.push(field.required(amounts, "no maxUnavailable or minAvailable defined in PodUnavailableBudget"));
  else if (maxUnavailable !== undefined && minAvailable !== undefined)
    errors.push(field.required(amounts, "maxUnavailable and minAvailable are mutually exclusive"));
  else if (maxUnavailable !== undefined)
    errors.push(
      ...checkIntOrPercent("spec.maxUnavailable", maxUnavailable),
      ...checkAtMostAll("spec.maxUnavailable", maxUnavailable),
    );
  else if (minAvailable !== undefined)
    errors.push(
      ...checkIntOrPercent("spec.minAvailable", minAvailable),
      ...checkAtMostAll("spec.minAvailable", minAvailable),
    );
}

type Target = Read<PodUnavailableBudgetTarget>;

function checkTarget(errors: FieldError[], target: Target): void {
  const { apiVersion = "", kind = "", name = "" } = target;
  if (apiVersion === "" || kind === "" || name === "")
    errors.push(
      field.invalid("spec.TargetReference", target, "empty TargetReference is not valid for PodUnavailableBudget."),
    );
  if (apiVersion.split("/").length > 2)
    errors.push(field.invalid("spec.TargetReference", target, `unexpected GroupVersion string: ${apiVersion}`));
}

/** A pod has one budget: two budgets for the same pods conflict. Only the first conflict is reported. */
function checkOthers(errors: FieldError[], { object, read }: Review<PodUnavailableBudget>): void {
  const { selector, targetRef } = object.spec ?? {};
  const { name, namespace } = object.metadata;
  for (const other of read.list(BUDGETS, namespace)) {
    if (other.metadata.name === name) continue;
    const { selector: otherSelector, targetRef: otherTarget } = other.spec ?? {};
    if (targetRef && otherTarget) {
      if (!isSameTarget(targetRef, otherTarget)) continue;
      return void errors.push(
        field.invalid(
          "spec.targetReference",
          targetRef,
          `pub.spec.targetReference is in conflict with other PodUnavailableBudget ${other.metadata.name}`,
        ),
      );
    }
    if (selector && otherSelector && selectorsAgree(selector, otherSelector)) {
      return void errors.push(
        field.invalid(
          "spec.selector",
          selector,
          `pub.spec.selector is in conflict with other PodUnavailableBudget ${other.metadata.name}`,
        ),
      );
    }
  }
}

function isSameTarget(a: Target, b: Target): boolean {
  const group = ({ apiVersion = "" }: Target): string => parseApiVersion(apiVersion).group;
  return group(a) === group(b) && a.kind === b.kind && a.name === b.name;
}

export const podUnavailableBudgetRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(PodUnavailableBudget, {
    name: "podunavailablebudget",
    code: 400,
    tables: { v1alpha1: "policy-kruise-v1alpha1" },
    check: checkBudget(gates),
  }),
];
