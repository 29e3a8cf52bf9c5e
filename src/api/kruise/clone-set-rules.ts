/**
 * Defaults and rules of CloneSet, as OpenKruise's webhooks have them. A review carries the version that was sent, so the
 * part with partition and the like is `spec.updateStrategy` in v1alpha1 and `spec.updateStrategy.rollingUpdate` in v1beta1.
 */
import { equalJson, isObject, type DeepReadonly, type JsonObject } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { Review } from "../admission.ts";
import { canonicalPart } from "../canonical.ts";
import { defaultPodTemplate } from "../core/pod-defaults.ts";
import { checkPodTemplate } from "../core/pod-validation.ts";
import { checkNotNegative, checkWorkloadSelector, forbiddenField, missing, wrong } from "../field-errors.ts";
import { change, fill } from "../fill.ts";
import type { PodTemplateSpec } from "../facts/core-v1.ts";
import type { CloneSet, CloneSetRollingUpdate, CloneSetSpec, CloneSetUpdateStrategy } from "./clone-set-types.ts";

type Read<T> = DeepReadonly<T>;
/** v1alpha1 keeps the update policy in `type`, beside what v1beta1 moved to `rollingUpdate`. */
type AlphaStrategy = Omit<CloneSetRollingUpdate, "podUpdatePolicy"> & { type?: string };

const MAX_INT32 = 2 ** 31 - 1;
const DEFAULT_MAX_UNAVAILABLE = "20%";

const isAlpha = ({ apiVersion }: { readonly apiVersion: string }): boolean => apiVersion === "apps.kruise.io/v1alpha1";

export function completeCloneSet({ object, warn, subresource }: Review<CloneSet>): Read<CloneSet> {
  if (subresource === "status") return object;
  return change(object, "spec", (spec) => {
    let result: Read<CloneSetSpec> = fill(spec, { replicas: 1, revisionHistoryLimit: 10, updateStrategy: {} });
    result = change(result, "template", (template) => completeTemplate(template, object));
    result = change(result, "updateStrategy", isAlpha(object) ? completeAlpha : completeBeta);
    const labels = result.template?.metadata?.labels;
    if (!result.selector && isObject(labels) && Object.keys(labels).length > 0) {
      warn("spec.selector is missing and was taken from spec.template.metadata.labels; write it as spec.selector.matchLabels");
      result = { ...result, selector: { matchLabels: labels } };
    }
    return result;
  });
}

/** The definition leaves the template open; the webhook reads it as a pod template, and so it is stored. */
function completeTemplate(template: Read<PodTemplateSpec>, cloneSet: Read<CloneSet>): Read<PodTemplateSpec> {
  const canonical = canonicalPart("core-v1", "PodTemplateSpec", template as unknown as JsonObject, cloneSet) as unknown as Read<PodTemplateSpec>;
  return defaultPodTemplate(canonical, { pullPolicy: "Always" });
}

function completeBeta(strategy: Read<CloneSetUpdateStrategy>): Read<CloneSetUpdateStrategy> {
  const typed: Read<CloneSetUpdateStrategy> = fill(strategy, { type: "RollingUpdate" });
  if (typed.type === "OnDelete") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) => {
    const filled: Read<CloneSetRollingUpdate> = fill(rolling, { podUpdatePolicy: "ReCreate" });
    return completeRolling(filled, filled.podUpdatePolicy);
  });
}

function completeAlpha(strategy: Read<CloneSetUpdateStrategy>): Read<CloneSetUpdateStrategy> {
  const typed: Read<AlphaStrategy> = fill(strategy as Read<AlphaStrategy>, { type: "ReCreate" });
  return completeRolling(typed, typed.type) as Read<CloneSetUpdateStrategy>;
}

function completeRolling<T extends Read<Omit<CloneSetRollingUpdate, "podUpdatePolicy">>>(rolling: T, policy: string | undefined): T {
  const isInPlace = policy === "InPlaceIfPossible" || policy === "InPlaceOnly";
  return fill<Read<CloneSetRollingUpdate>>(rolling, {
    partition: 0,
    maxUnavailable: DEFAULT_MAX_UNAVAILABLE,
    maxSurge: 0,
    ...(isInPlace && { inPlaceUpdateStrategy: {} }),
  }) as T;
}

export function checkCloneSet({ object, oldObject, subresource }: Review<CloneSet>): FieldError[] {
  if (subresource === "status") return [];
  const { spec } = object;
  const labels = spec.template.metadata?.labels;
  return [
    ...(oldObject && !equalJson(spec.selector, oldObject.spec.selector) ? [forbiddenField("spec", "the selector of a CloneSet cannot be changed")] : []),
    ...checkNotNegative("spec.replicas", spec.replicas),
    ...(spec.selector ? checkWorkloadSelector(spec.selector, labels, "cloneset") : [missing("spec.selector"), unmatched(labels)]),
    ...(spec.template.spec?.containers ? checkPodTemplate("spec.template", spec.template, "cloneset") : [missing("spec.template.spec.containers")]),
    ...checkPodsToDelete(spec.scaleStrategy?.podsToDelete ?? []),
    ...checkStrategy(object),
    ...checkDeadline(spec),
  ];
}

const unmatched = (labels: unknown): FieldError => wrong("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");

function checkPodsToDelete(names: readonly string[]): FieldError[] {
  const repeated = names.filter((name, index) => names.indexOf(name) < index);
  return repeated.length === 0 ? [] : [wrong("spec.scaleStrategy.podsToDelete", names, `duplicated items ${JSON.stringify(repeated)}`)];
}

function checkDeadline({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }: Read<CloneSetSpec>): FieldError[] {
  if (deadline === undefined || deadline === MAX_INT32) return [];
  const errors = checkNotNegative("spec.progressDeadlineSeconds", deadline);
  if (deadline <= minReadySeconds) errors.push(wrong("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  return errors;
}

function checkStrategy(cloneSet: Read<CloneSet>): FieldError[] {
  const { updateStrategy = {}, replicas = 1 } = cloneSet.spec;
  if (!isAlpha(cloneSet)) {
    const { rollingUpdate } = updateStrategy;
    return rollingUpdate ? checkRolling("spec.updateStrategy.rollingUpdate", rollingUpdate, rollingUpdate.podUpdatePolicy, replicas) : [];
  }
  const alpha = updateStrategy as Read<AlphaStrategy>;
  if (alpha.type !== undefined && !["ReCreate", "InPlaceIfPossible", "InPlaceOnly"].includes(alpha.type)) {
    return [wrong("spec.updateStrategy.type", alpha.type, "must be ReCreate, InPlaceIfPossible or InPlaceOnly; v1beta1 has OnDelete")];
  }
  return checkRolling("spec.updateStrategy", alpha, alpha.type, replicas);
}

type Rolling = Read<Omit<CloneSetRollingUpdate, "podUpdatePolicy">>;

function checkRolling(at: string, rolling: Rolling, policy: string | undefined, replicas: number): FieldError[] {
  const { partition, maxUnavailable = DEFAULT_MAX_UNAVAILABLE, maxSurge = 0 } = rolling;
  const errors = [...checkShare(`${at}.partition`, partition), ...checkShare(`${at}.maxUnavailable`, maxUnavailable), ...checkShare(`${at}.maxSurge`, maxSurge)];
  if (typeof partition === "number") errors.push(...checkNotNegative(`${at}.partition`, partition));
  const surge = shareOf(maxSurge, replicas);
  // What is not a number counts as none.
  if (replicas > 0 && !(shareOf(maxUnavailable, replicas) >= 1) && !(surge >= 1)) {
    errors.push(wrong(`${at}.maxUnavailable`, maxUnavailable, "maxUnavailable and maxSurge should not both be less than 1"));
  }
  if (policy === "InPlaceOnly" && surge > 0) errors.push(wrong(`${at}.maxSurge`, maxSurge, "must be 0 with InPlaceOnly"));
  return [...errors, ...checkOrder(at, rolling)];
}

/** Rounded up; OpenKruise allows fractions of a percent. */
const shareOf = (value: number | string, total: number): number => (typeof value === "number" ? value : Math.ceil((Number(value.replace(/%$/, "")) * total) / 100));

/** A number, or a percentage with or without a fraction. */
function checkShare(field: string, value: number | string | undefined): FieldError[] {
  return typeof value === "string" && !/^[+-]?\d+(\.\d+)?%$/.test(value) ? [wrong(field, value, "a text must be a percentage, such as 20%")] : [];
}

/** Which pods are updated first. */
function checkOrder(at: string, { priorityStrategy, scatterStrategy = [] }: Rolling): FieldError[] {
  const { weightPriority = [], orderPriority = [] } = priorityStrategy ?? {};
  const errors: FieldError[] = [];
  const priority = `${at}.priorityStrategy`;
  if (weightPriority.length > 0 && orderPriority.length > 0) errors.push(missing(priority, "only one of weightPriority and orderPriority can be used"));
  if (weightPriority.some(({ weight }) => weight < 0 || weight > 100)) errors.push(missing(priority, "a weight must be in the range 0-100"));
  if (weightPriority.some(({ matchSelector }) => Object.keys(matchSelector).length === 0)) errors.push(missing(priority, "a selector can not be empty"));
  if (orderPriority.some(({ orderedKey }) => !orderedKey)) errors.push(missing(priority, "order key can not be empty"));
  if (scatterStrategy.some(({ key }) => !key)) errors.push(missing(`${at}.scatterStrategy`, "key should not be empty"));
  const pairs = scatterStrategy.map(({ key, value }) => JSON.stringify([key, value]));
  if (new Set(pairs).size < pairs.length) errors.push(wrong(`${at}.scatterStrategy`, scatterStrategy, "a pair of key and value may be listed once"));
  return errors;
}
