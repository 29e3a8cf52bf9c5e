/** Validation of WorkloadSpread, as in OpenKruise's webhook. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import { ApiError, applyStrategicMergePatch, checkSelector, field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { PersistentVolumeClaim } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isObject, messageOf, required } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { checkNodeSelectorTerm, checkToleration, Deployment } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";
import { requireGate } from "../api/plain-rejection.ts";
import { checkOwnTemplate } from "../api/template-rules.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { legacyShare } from "../int-or-percent.ts";
import { isSameTarget, TARGET_KINDS, targetKindOf } from "./spread-targets.ts";
import type { ReadonlySpread, Subset, Target } from "./spread-targets.ts";
import { WorkloadSpread } from "./workloadspread-kind.ts";

/** A subset without room is tried again after 300 s; until then every other subset must have had its turn. */
const MAX_RESCHEDULE_SECONDS = 295;
const MAX_INT32 = 2 ** 31 - 1;

function checkSpread(review: Review<WorkloadSpread>): FieldError[] {
  const { object, oldObject, read } = review;
  const { targetRef } = object.spec;
  const errors: FieldError[] = [];
  checkTarget(errors, object);
  checkSubsets(errors, object, targetOf(review));
  checkStrategy(errors, object);
  const [problem] = checkSelector("spec.targetFilter", object.spec.targetFilter?.selector);
  if (problem) errors.push(field.invalid("spec.targetFilter", object.spec.targetFilter, problem.message));
  if (!targetRef) return errors;
  const { name, namespace } = object.metadata;
  const other = read
    .list(WorkloadSpread, namespace)
    .find((one) => one.metadata.name !== name && one.spec.targetRef && isSameTarget(one.spec.targetRef, targetRef));
  if (other)
    errors.push(
      field.invalid(
        "spec.targetRef",
        targetRef,
        `ws.spec.targetRef is in conflict with other WorkloadSpread ${other.metadata.name}`,
      ),
    );
  if (oldObject?.spec.targetRef && !isSameTarget(oldObject.spec.targetRef, targetRef))
    errors.push(
      field.invalid("spec.targetRef", targetRef, "change TargetReference is not permitted for WorkloadSpread"),
    );
  return errors;
}

function checkTarget(errors: FieldError[], { spec: { targetRef } }: ReadonlySpread): void {
  const invalid = (problem: string): void => void errors.push(field.invalid("spec.targetRef", targetRef, problem));
  if (!targetRef) errors.push(field.required("spec.targetRef", "no targetRef defined in WorkloadSpread"));
  else if (!targetRef.apiVersion || !targetRef.name || !targetRef.kind)
    invalid("empty TargetReference is not valid for WorkloadSpread.");
  else if (!TARGET_KINDS.some(({ kind }) => kind === targetRef.kind))
    invalid("TargetReference's GroupKind is not permitted.");
  else if (!targetKindOf(targetRef)) invalid(`TargetReference is not valid for ${targetRef.kind}.`);
}

/** Undefined if the workload is created later, or on the hub, whose workloads have no pods. */
function targetOf(review: Review<WorkloadSpread>): DeepReadonly<Target> | undefined {
  const { targetRef } = review.object.spec;
  const kind = targetRef && !isHub(review) ? targetKindOf(targetRef) : undefined;
  return kind && review.read.get(kind, review.object.metadata.namespace, targetRef.name);
}

function checkSubsets(errors: FieldError[], spread: ReadonlySpread, target: DeepReadonly<Target> | undefined): void {
  const { subsets = [], targetRef } = spread.spec;
  if (subsets.length === 0) {
    errors.push(field.required("spec.subsets", "subsets number must >= 1 in WorkloadSpread"));
    return;
  }
  const names = new Set<string>();
  let firstType: string | undefined;
  let percents = 0;
  for (const [index, subset] of subsets.entries()) {
    const at = `spec.subsets[${index}]`;
    const { name, maxReplicas } = subset;
    if (!name) errors.push(field.invalid(`${at}.name`, name));
    else if (names.has(name)) errors.push(field.invalid(`${at}.name`, name, `duplicated subset name ${name}`));
    names.add(name);
    checkPlacement(errors, at, subset);
    if (target) checkPatch(errors, `${at}.patch`, subset, target);
    if (maxReplicas === undefined) continue;
    const invalid = (problem: string): void =>
      void errors.push(field.invalid(`${at}.maxReplicas`, maxReplicas, problem));
    firstType ??= typeof maxReplicas;
    if (typeof maxReplicas !== firstType) {
      invalid("the maxReplicas type of all subsets must be the same");
      return;
    }
    if (targetRef?.kind === "StatefulSet" && typeof maxReplicas !== "number") {
      invalid("the maxReplicas type must be Int for StatefulSet");
      return;
    }
    const share = legacyShare(maxReplicas, 100, "up");
    if (share === undefined || share < 0) {
      invalid("maxReplicas is not valid for subset");
      return;
    }
    if (typeof maxReplicas === "string") percents += share;
    if (percents > 100) {
      invalid("the sum of all subset's maxReplicas exceeds 100% is no permitted");
      return;
    }
  }
  if (firstType === "string" && percents < 100 && subsets.at(-1)?.maxReplicas !== undefined)
    errors.push(
      field.invalid(
        "spec.subsets[0].maxReplicas",
        subsets[0]?.maxReplicas,
        "maxReplicas sum of all subsets must equal 100% when type is specified as percent",
      ),
    );
}

function checkPlacement(
  errors: FieldError[],
  at: string,
  { requiredNodeSelectorTerm, preferredNodeSelectorTerms = [], tolerations = [] }: Subset,
): void {
  if (requiredNodeSelectorTerm)
    errors.push(...checkNodeSelectorTerm(`${at}.requiredNodeSelectorTerm`, requiredNodeSelectorTerm));
  for (const [index, { weight = 0, preference }] of preferredNodeSelectorTerms.entries()) {
    const path = `${at}.preferredSchedulingTerms[${index}]`;
    if (weight <= 0 || weight > 100) errors.push(field.invalid(`${path}.weight`, weight, "must be in the range 1-100"));
    errors.push(...checkNodeSelectorTerm(`${path}.preference`, preference ?? {}, true));
  }
  for (const [index, toleration] of tolerations.entries())
    errors.push(...checkToleration(`${at}.tolerations[${index}]`, toleration));
}

/** The pod template of the target must be valid with the patch. */
function checkPatch(errors: FieldError[], at: string, { patch }: Subset, { spec }: DeepReadonly<Target>): void {
  const template = spec?.template;
  if (!isObject(patch) || !isObject(template)) return;
  const schema = required(
    Deployment.versions["v1"]?.schema.properties?.["spec"]?.properties?.["template"],
    "the schema of a pod template",
  );
  let patched: JsonObject;
  try {
    patched = applyStrategicMergePatch(template, patch, schema);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    errors.push(field.invalid(at, JSON.stringify(patch), `failed to merge patch: ${messageOf(error)}`));
    return;
  }
  checkOwnTemplate(
    errors,
    at,
    patched,
    (spec?.volumeClaimTemplates ?? []) as unknown as readonly DeepReadonly<PersistentVolumeClaim>[],
  );
}

function checkStrategy(errors: FieldError[], { spec }: ReadonlySpread): void {
  const { scheduleStrategy, subsets = [] } = spec;
  const { length } = subsets;
  const { type = "", adaptive } = scheduleStrategy ?? {};
  if (!["", "Fixed", "Adaptive"].includes(type))
    errors.push(field.invalid("spec.scheduleStrategy.type", type, "ScheduleStrategy's type is not valid"));
  if (!adaptive) return;
  const seconds = adaptive.rescheduleCriticalSeconds;
  if (type !== "Adaptive")
    errors.push(
      field.invalid(
        "spec.scheduleStrategy.type",
        seconds,
        "the scheduleStrategy's type must be adaptive when using adaptive scheduleStrategy",
      ),
    );
  if (length > 1 && subsets.at(-1)?.maxReplicas !== undefined)
    errors.push(
      field.invalid(
        "spec.scheduleStrategy.adaptive",
        seconds,
        "the last subset's maxReplicas must be not specified when using adaptive scheduleStrategy",
      ),
    );
  const most = length > 1 ? Math.floor(MAX_RESCHEDULE_SECONDS / (length - 1)) : MAX_INT32;
  if (seconds !== undefined && (seconds < 0 || seconds > most))
    errors.push(
      field.invalid(
        "spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds",
        seconds,
        `rescheduleCriticalSeconds < 0 or rescheduleCriticalSeconds > ${most} is not permitted`,
      ),
    );
}

export const workloadSpreadRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(WorkloadSpread, {
    name: "workloadspread",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    check(review) {
      // The hub only propagates it; each member has its own gates.
      if (!isHub(review)) requireGate("vworkloadspread.kb.io", gates, "WorkloadSpread");
      return checkSpread(review);
    },
  }),
];
