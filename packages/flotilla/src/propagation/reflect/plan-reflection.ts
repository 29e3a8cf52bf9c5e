/** Computes a Work's status from the objects on its member. Pure. */
import { findCondition, parseApiVersion, withCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { equalJson, INEXACT_INTEGER, isObject, withoutInexactIntegers, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { InterpretError, reflectConditions } from "@flotilla/kubernetes";
import { keepCounted } from "@flotilla/openkruise";
import { hasHealthRule } from "../../interpreter/health-rules.ts";
import { type Interpreter } from "../../interpreter/interpreter.ts";
import type { ObjectRef } from "../../delivery/delivery.ts";
import { TEMPLATE_GENERATION } from "@flotilla/karmada";
import { INTERPRETED, RELEASE_OBSERVED, RELEASE_STEP } from "../../flotilla-names.ts";
import { withWorkHealth } from "../../health/healthy-condition.ts";
import type { Verdict } from "../../health/healthy-condition.ts";
import { progressOf, whyBroken, whyUnhealthy } from "../../health/why-unhealthy.ts";

/** One manifest, and the status of the member's object. */
interface Seen {
  ref: ObjectRef;
  resource: string;
  reading: Reading;
}

type ManifestStatus = NonNullable<NonNullable<Work["status"]>["manifestStatuses"]>[number];

/** `absent`: the member's cache is fresh and the object does not exist. Undefined: currently unknown. */
export type ObservedManifest = Seen | "absent" | undefined;

/** An object's status and health, as its kind's rules interpret it, and what is wrong with it beyond these rules. */
export interface Reading extends Pick<ManifestStatus, "status" | "health"> {
  verdict?: Verdict;
  /** The step of a release that the member's controller has observed (RELEASE_STEP). */
  releaseStep?: string | undefined;
  /** The first rule that failed for the object. */
  failure?: MemberRuleFailure | undefined;
}

export interface MemberRuleFailure {
  reason: "ReflectStatusFailed" | "InterpretHealthFailed";
  message: string;
}

export type ReadingRules = Pick<
  Interpreter,
  "reflectStatus" | "replacedGenerations" | "conditionSums" | "health" | "ownerOf"
>;

/** A failed rule means unknown: reporting nothing is better than reporting healthy. */
export async function readObject(
  object: DeepReadonly<KubernetesObject>,
  interpreter: ReadingRules,
  onFailure: (reason: MemberRuleFailure["reason"], error: InterpretError) => void = () => {},
): Promise<Reading> {
  let failure: MemberRuleFailure | undefined;
  const attempt = async <T>(reason: MemberRuleFailure["reason"], read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      onFailure(reason, error);
      failure = failure ? withMessage(failure, error.message) : { reason, message: error.message };
      return undefined;
    }
  };
  const reflected = await attempt("ReflectStatusFailed", reportOf(object, interpreter));
  // A member keeps 64 bits. The hub cannot, so it reports these fields instead of showing other numbers.
  const { value: status, omitted } = withoutInexactIntegers(reflected);
  if (omitted.length > 0)
    onFailure(
      "ReflectStatusFailed",
      new InterpretError(`the fields ${omitted.join(", ")} of the status are not reflected: each ${INEXACT_INTEGER}`),
    );
  const health = await attempt("InterpretHealthFailed", interpreter.health(object));
  const owner = interpreter.ownerOf("isHealthy", object);
  const unhealthy =
    whyUnhealthy(object, health, owner) ??
    (owner === undefined && !hasHealthRule(object) ? whyBroken(object) : undefined);
  return {
    status: isObject(status) ? withMemberConditions(status, object, interpreter) : undefined,
    health: health ?? "Unknown",
    releaseStep: observedStep(object),
    verdict: unhealthy
      ? { status: "False", ...(failure ? withMessage(unhealthy, failure.message) : unhealthy) }
      : failure && { status: "Unknown", ...failure },
    failure,
  };
}

/** Everything that is wrong is named, also if one condition reports it. */
const withMessage = <T extends { message: string }>(first: T, second: string): T => ({
  ...first,
  message: `${first.message}; ${second}`,
});

/** Unset until the member's controller has observed the copy: what it reports is of an earlier one. */
function observedStep({ metadata, ...object }: DeepReadonly<KubernetesObject>): string | undefined {
  const { status } = object as { status?: unknown };
  const observed = isObject(status) ? status["observedGeneration"] : undefined;
  const isBehind = typeof observed === "number" && observed < (metadata.generation ?? 0);
  return isBehind ? undefined : metadata.annotations?.[RELEASE_STEP];
}

/** The report of the rule. One that names no generations would count as older than the template for ever. */
async function reportOf(object: DeepReadonly<KubernetesObject>, interpreter: ReadingRules): Promise<Json | undefined> {
  const status = await interpreter.reflectStatus(object);
  return isObject(status) ? { ...(await interpreter.replacedGenerations(object)), ...status } : status;
}

/** The reported status with the conditions that the hub sums. */
function withMemberConditions(
  status: JsonObject,
  object: DeepReadonly<KubernetesObject>,
  { conditionSums }: ReadingRules,
): JsonObject {
  const conditions = reflectConditions(object, conditionSums("reflectStatus", object)?.types ?? []);
  return conditions.length > 0 ? { ...status, conditions } : status;
}

/** A released object as rules can read it: it no longer follows the template's generation. */
export function withoutGeneration(object: DeepReadonly<KubernetesObject>): DeepReadonly<KubernetesObject> {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [TEMPLATE_GENERATION]: "0" } },
  };
}

export function planReflection(
  work: DeepReadonly<Work>,
  seen: readonly ObservedManifest[],
  now: string,
): DeepReadonly<Work> {
  const before = work.status?.manifestStatuses ?? [];
  const manifestStatuses = seen.flatMap((item, ordinal) => {
    if (item === "absent") return [];
    // An object that is currently unobservable keeps its last known status.
    if (!item) return before.filter(({ identifier }) => identifier.ordinal === ordinal);
    const last = before.find(({ identifier }) => identifier.ordinal === ordinal);
    const next = statusOf(item, ordinal);
    // The object runs on, and no number at all would be counted as zero.
    if (item.reading.failure?.reason === "ReflectStatusFailed") return [{ ...next, status: last?.status }];
    return [{ ...next, status: keepCounted(next.status, last?.status) }];
  });
  const health = healthOf(work, seen, progressIn(manifestStatuses) > progressIn(before), now);
  const conditions = withReleaseStep(withInterpreted(health, seen, now), seen, now);
  if (conditions === work.status?.conditions && equalJson(manifestStatuses, before)) return work;
  return {
    ...work,
    status: { ...work.status, ...defined({ conditions: conditions ? [...conditions] : undefined }), manifestStatuses },
  };
}

const progressIn = (statuses: readonly DeepReadonly<ManifestStatus>[]): number =>
  statuses.reduce((sum, { status }) => sum + progressOf(status), 0);

type Conditions = NonNullable<DeepReadonly<Work>["status"]>["conditions"];

/** Unchanged while an object cannot be observed: the last verdict on it stays. */
function healthOf(
  { status }: DeepReadonly<Work>,
  seen: readonly ObservedManifest[],
  isProgress: boolean,
  now: string,
): Conditions {
  const observed = observedIn(seen);
  if (!observed) return status?.conditions;
  const wrong =
    observed.find(({ reading }) => reading.verdict?.status === "False") ??
    observed.find(({ reading }) => reading.verdict);
  const verdict = wrong?.reading.verdict;
  const next = withWorkHealth(
    status?.conditions ?? [],
    {
      verdict:
        verdict && observed.length > 1
          ? { ...verdict, message: `${wrong.ref.kind} ${wrong.ref.name}: ${verdict.message}` }
          : verdict,
      isByRule: observed.every(({ reading }) => reading.health === "Healthy"),
      isProgress,
    },
    now,
  );
  return next.length === 0 ? status?.conditions : next;
}

/**
 * The rule that failed for an object, also of one that is unhealthy. A Work for which no rule ever failed has no such
 * condition.
 */
function withInterpreted(conditions: Conditions, seen: readonly ObservedManifest[], now: string): Conditions {
  const observed = observedIn(seen);
  if (!observed) return conditions;
  const failures = observed.flatMap(({ reading }) => reading.failure ?? []);
  const failure = failures.find(({ reason }) => reason === "ReflectStatusFailed") ?? failures[0];
  if (failure) return withCondition(conditions ?? [], { type: INTERPRETED, status: "False", ...failure }, now);
  return findCondition(conditions, INTERPRETED)?.status === "False"
    ? withCondition(
        conditions ?? [],
        { type: INTERPRETED, status: "True", reason: "RulesSucceeded", message: "The status and the health were read" },
        now,
      )
    : conditions;
}

/** Which step of a release the numbers are about. A Work that was never part of one has no such condition. */
function withReleaseStep(conditions: Conditions, seen: readonly ObservedManifest[], now: string): Conditions {
  const step = observedIn(seen)?.find(({ reading }) => reading.releaseStep !== undefined)?.reading.releaseStep;
  if (step === undefined) return conditions;
  return withCondition(
    conditions ?? [],
    { type: RELEASE_OBSERVED, status: "True", reason: "Observed", message: step },
    now,
  );
}

/** All objects of the Work; undefined while one of them cannot be observed. */
function observedIn(seen: readonly ObservedManifest[]): readonly Seen[] | undefined {
  const observed = seen.flatMap((item) => (typeof item === "object" ? [item] : []));
  return observed.length < seen.length || observed.length === 0 ? undefined : observed;
}

function statusOf({ ref, resource, reading: { status, health } }: Seen, ordinal: number): ManifestStatus {
  const { group, version } = parseApiVersion(ref.apiVersion);
  return {
    identifier: {
      ordinal,
      group: group || undefined,
      version,
      kind: ref.kind,
      resource,
      namespace: ref.namespace || undefined,
      name: ref.name,
    },
    status,
    health,
  };
}

/**
 * Whether the next report is worth waiting for: nothing was reported yet, or a member's controller has not observed its
 * copy. It does so within moments, and what it counts until then is of an earlier copy, from which no stage should
 * decide.
 */
export function isPreliminary(work: DeepReadonly<Work>, reflected: DeepReadonly<Work>): boolean {
  const { manifestStatuses = [] } = reflected.status ?? {};
  return !work.status?.manifestStatuses?.length || manifestStatuses.some(({ status }) => !isObserved(status));
}

function isObserved(status: unknown): boolean {
  const { generation, observedGeneration } = isObject(status) ? status : {};
  if (typeof generation !== "number" || typeof observedGeneration !== "number") return true;
  return observedGeneration >= generation;
}
