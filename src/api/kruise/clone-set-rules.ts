/**
 * Defaults and rules of CloneSet, as OpenKruise's webhooks have them. A review carries the version that was sent, so the
 * part with partition and the like is `spec.updateStrategy` in v1alpha1 and `spec.updateStrategy.rollingUpdate` in v1beta1.
 */
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { Review } from "../admission.ts";
import { canonicalPart } from "../canonical.ts";
import { defaultPodTemplate } from "../core/pod-defaults.ts";
import { checkPodTemplate } from "../core/pod-validation.ts";
import { checkIntOrPercent, checkNotNegative, checkUnchanged, checkWorkloadSelector, forbiddenField, missing, scaledValue, twice, wrong } from "../field-errors.ts";
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
    result = change(result, "template", completeTemplate);
    result = change(result, "updateStrategy", isAlpha(object) ? completeAlpha : completeBeta);
    const labels = result.template?.metadata?.labels;
    if (!result.selector && labels && Object.keys(labels).length > 0) {
      warn("spec.selector is missing and was taken from spec.template.metadata.labels; write it as spec.selector.matchLabels");
      result = { ...result, selector: { matchLabels: labels } };
    }
    return result;
  });
}

/** The definition leaves the template open; the webhook reads it as a pod template, and so it is stored. */
function completeTemplate(template: Read<PodTemplateSpec>): Read<PodTemplateSpec> {
  const canonical = canonicalPart("core-v1", "PodTemplateSpec", template as unknown as JsonObject) as unknown as Read<PodTemplateSpec>;
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
  const names = spec.scaleStrategy?.podsToDelete ?? [];
  return [
    ...checkNotNegative("spec.replicas", spec.replicas),
    ...checkWorkloadSelector(spec.selector, spec.template.metadata?.labels, "cloneset"),
    ...(spec.template.spec?.containers ? checkPodTemplate("spec.template", spec.template) : [missing("spec.template.spec.containers")]),
    ...names.flatMap((name, index) => (names.indexOf(name) < index ? [twice(`spec.scaleStrategy.podsToDelete[${index}]`, name)] : [])),
    ...checkIntOrPercent("spec.scaleStrategy.maxUnavailable", spec.scaleStrategy?.maxUnavailable),
    ...checkStrategy(object),
    ...checkNotNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
    ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...checkDeadline(spec),
    ...(oldObject ? checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector) : []),
  ];
}

function checkDeadline({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }: Read<CloneSetSpec>): FieldError[] {
  if (deadline === undefined || deadline === MAX_INT32) return [];
  const errors = checkNotNegative("spec.progressDeadlineSeconds", deadline);
  if (deadline <= minReadySeconds) errors.push(wrong("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  return errors;
}

function checkStrategy(cloneSet: Read<CloneSet>): FieldError[] {
  const { updateStrategy = {}, replicas = 1 } = cloneSet.spec;
  const alpha = updateStrategy as Read<AlphaStrategy>;
  if (!isAlpha(cloneSet)) return updateStrategy.rollingUpdate ? checkRolling("spec.updateStrategy.rollingUpdate", updateStrategy.rollingUpdate, updateStrategy.rollingUpdate.podUpdatePolicy, replicas) : [];
  if (alpha.type !== undefined && !["ReCreate", "InPlaceIfPossible", "InPlaceOnly"].includes(alpha.type)) {
    return [wrong("spec.updateStrategy.type", alpha.type, "must be one of ReCreate, InPlaceIfPossible, InPlaceOnly; OnDelete needs v1beta1")];
  }
  return checkRolling("spec.updateStrategy", alpha, alpha.type, replicas);
}

function checkRolling(at: string, rolling: Read<Omit<CloneSetRollingUpdate, "podUpdatePolicy">>, policy: string | undefined, replicas: number): FieldError[] {
  const { partition, maxUnavailable = DEFAULT_MAX_UNAVAILABLE, maxSurge = 0, priorityStrategy, scatterStrategy = [] } = rolling;
  const errors = [...checkIntOrPercent(`${at}.partition`, partition), ...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable), ...checkIntOrPercent(`${at}.maxSurge`, maxSurge)];
  if (errors.length === 0) {
    const surge = scaledValue(maxSurge, replicas, "up");
    if (replicas > 0 && scaledValue(maxUnavailable, replicas, "up") < 1 && surge < 1) errors.push(wrong(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when maxSurge is 0"));
    if (policy === "InPlaceOnly" && surge > 0) errors.push(wrong(`${at}.maxSurge`, maxSurge, "must be 0 with InPlaceOnly"));
  }
  if (priorityStrategy?.orderPriority?.length && priorityStrategy.weightPriority?.length) errors.push(forbiddenField(`${at}.priorityStrategy`, "may not have both weightPriority and orderPriority"));
  for (const [index, { weight }] of (priorityStrategy?.weightPriority ?? []).entries()) {
    if (weight < 0 || weight > 100) errors.push(wrong(`${at}.priorityStrategy.weightPriority[${index}].weight`, weight, "must be between 0 and 100"));
  }
  for (const [index, { key, value }] of scatterStrategy.entries()) {
    const field = `${at}.scatterStrategy[${index}]`;
    if (!key) errors.push(missing(`${field}.key`));
    if (scatterStrategy.slice(0, index).some((term) => term.key === key && term.value === value)) errors.push(twice(field, { key, value }));
  }
  return errors;
}
