/**
 * Why an object on a member is not as it should be, from the object itself. Pure.
 *
 * The health of a copy in `aggregatedStatus` follows Karmada's rules, which a broken rollout can satisfy: the surge pod
 * of a Deployment counts as updated while it never starts, and a failed Job has no rule. What is found here stands
 * beside that health, in the condition `Healthy` of Works and bindings.
 */
import { findCondition, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { conditionsOf, countOf, hasLastRunFailed } from "@flotilla/kubernetes";
import { runsToCompletion } from "./run-to-completion.ts";
import type { Unhealthy } from "@flotilla/kubernetes";
import { kruiseJudgeOf } from "@flotilla/openkruise";

/** A run that has ended does not recover: these are problems at once. */
export const FAILED = "Failed";
export const LAST_RUN_FAILED = "LastRunFailed";
/** Pods that a quota forbids are not created by waiting. */
export const QUOTA_FORBIDS = "QuotaForbidsPods";

type Observed = DeepReadonly<KubernetesObject>;

/** Groups whose workloads omit a counter that is zero. Elsewhere a missing counter is unknown. */
const COUNTED_GROUPS: ReadonlySet<string> = new Set(["apps", "apps.kruise.io"]);
/** Conditions that are `True` when pods cannot be created or updated. */
const FAILURES = ["ReplicaFailure", "FailedScale", "FailedUpdate"];

/**
 * `health` is the verdict of the health rule, which is the kind's, or that of `owner`, a user's object. Undefined if nothing is
 * wrong.
 */
export function whyUnhealthy(object: Observed, health: string | undefined, owner?: string): Unhealthy | undefined {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp !== undefined)
    return {
      reason: "Terminating",
      message: `it is being deleted on the member${finalizers.length > 0 ? ` and waits for the finalizer ${finalizers.join(", ")}` : ""}`,
    };
  const judge = kruiseJudgeOf(object);
  if (judge) return judge(object, health);
  const [spec, status] = [partOf(object, "spec"), partOf(object, "status")];
  const conditions = conditionsOf(object);
  if (findCondition(conditions, "Complete")?.status === "True") return undefined;
  const failed = findCondition(conditions, "Failed");
  if (failed?.status === "True" || status["phase"] === "Failed")
    return {
      reason: FAILED,
      message: `it failed${textOf(failed ?? { reason: status["reason"], message: status["message"] })}`,
    };
  if (isCronJob(object) && hasLastRunFailed(object))
    return { reason: LAST_RUN_FAILED, message: "its last run did not succeed" };
  const missing = unreadyOf(object);
  const cause = causeIn(conditions) || pauseIn(object);
  if (missing)
    return {
      reason: /exceeded quota/.test(cause) ? QUOTA_FORBIDS : "PodsNotReady",
      message: `${missing.unready} of ${missing.total} pods ${missing.unready === 1 ? "is" : "are"} not ready${cause}`,
    };
  if (health !== "Unhealthy" || isHeldOnPurpose(spec, status)) return undefined;
  // A user's own rule may ask for something else.
  if (owner === undefined && isIdleBudget(object)) return undefined;
  const outdated = outdatedIn(spec, status, cause);
  if (!outdated && isSettling(spec, status)) return undefined;
  return outdated ?? { reason: "Unhealthy", message: `${ruleVerdict(object, status, owner)}${cause}` };
}

const isCronJob = ({ apiVersion, kind }: Observed): boolean =>
  kind === "CronJob" && parseApiVersion(apiVersion).group === "batch";

/** Pods that are ready or updated; when the sum grows, a rollout makes progress. */
export function progressOf(status: unknown): number {
  if (!isObject(status)) return 0;
  const fields = [
    "readyReplicas",
    "updatedReplicas",
    "numberReady",
    "updatedNumberScheduled",
    "ready",
    "succeeded",
  ] as const;
  return fields.reduce((sum, field) => sum + countOf(status[field]), 0);
}

/**
 * Counted against all pods that the workload has, so that a new pod which never starts next to ready old ones is seen.
 */
export function unreadyOf(object: Observed): { unready: number; total: number } | undefined {
  const [spec, status] = [partOf(object, "spec"), partOf(object, "status")];
  const { apiVersion, kind } = object;
  // The pods of a run end: without a counter, nothing is known about them.
  const isCounted =
    kind === "ReplicationController" ||
    (COUNTED_GROUPS.has(parseApiVersion(apiVersion).group) && !runsToCompletion({ apiVersion, kind }));
  const numbers = (
    [
      ["readyReplicas", Math.max(countOf(spec["replicas"]), countOf(status["replicas"]))],
      ["numberReady", countOf(status["desiredNumberScheduled"])],
      // Of a Job: pods that finished are not active.
      ["ready", countOf(status["active"])],
    ] as const
  ).find(([field]) => status[field] !== undefined) ?? [
    "readyReplicas",
    isCounted ? Math.max(countOf(spec["replicas"]), countOf(status["replicas"])) : 0,
  ];
  const [field, total] = numbers;
  // An available pod is ready, whether or not the counter is reported.
  const unready = total - Math.max(countOf(status[field]), countOf(status["availableReplicas"]));
  return unready > 0 ? { unready, total } : undefined;
}

/** A rollout that has not reached its stage although every pod is ready. */
function outdatedIn(spec: JsonObject, status: JsonObject, cause: string): Unhealthy | undefined {
  const wanted = status["expectedUpdatedReplicas"] ?? spec["replicas"] ?? status["desiredNumberScheduled"];
  const updated = countOf(status["updatedReplicas"] ?? status["updatedNumberScheduled"]);
  if (typeof wanted !== "number" || updated >= wanted) return undefined;
  const counts = `${updated} of ${wanted} pods ${updated === 1 ? "is" : "are"} updated`;
  return isPaused(spec)
    ? { reason: "RolloutPaused", message: `the rollout is paused: ${counts}${cause}` }
    : { reason: "PodsNotUpdated", message: `${counts}${cause}` };
}

function isPaused(spec: JsonObject): boolean {
  const { strategy, rolling } = strategyIn(spec);
  return [spec, strategy, rolling].some((part) => part["paused"] === true);
}

/** A partition or `OnDelete` keeps pods at the old revision; Karmada's rules call that unhealthy. */
function isHeldOnPurpose(spec: JsonObject, status: JsonObject): boolean {
  const { strategy, rolling } = strategyIn(spec);
  const wanted = countOf(spec["replicas"]);
  const updated = countOf(status["updatedReplicas"]);
  if (strategy["type"] === "OnDelete") return true;
  const kept = countOf(rolling["partition"]);
  return kept > 0 && updated < wanted && updated >= wanted - kept;
}

/** A budget without pods allows no disruption, which Karmada's rule calls unhealthy: there is nothing to protect. */
export function isIdleBudget(object: Observed): boolean {
  const isBudget = object.kind === "PodDisruptionBudget" && parseApiVersion(object.apiVersion).group === "policy";
  return isBudget && partOf(object, "status")["expectedPods"] === 0;
}

/** Which pods keep the previous template although nothing is wrong; undefined if none do. */
export function heldPods(object: Observed): string | undefined {
  const [spec, status] = [partOf(object, "spec"), partOf(object, "status")];
  if (!isHeldOnPurpose(spec, status)) return undefined;
  const total = countOf(status["desiredNumberScheduled"] ?? spec["replicas"]);
  const kept = total - countOf(status["updatedNumberScheduled"] ?? status["updatedReplicas"]);
  if (kept <= 0) return undefined;
  const pods = `${kept} of ${total} pods ${kept === 1 ? "keeps" : "keep"} the previous template`;
  return strategyIn(spec).strategy["type"] === "OnDelete"
    ? `${pods}: with OnDelete the member replaces a pod when it is deleted`
    : `${pods}: the partition holds ${kept === 1 ? "it" : "them"} back`;
}

/** All pods are ready, but not for `minReadySeconds` yet. */
const isSettling = ({ minReadySeconds }: JsonObject, { replicas, availableReplicas }: JsonObject): boolean =>
  countOf(minReadySeconds) > 0 && countOf(availableReplicas) < countOf(replicas);

function strategyIn({ updateStrategy }: JsonObject): { strategy: JsonObject; rolling: JsonObject } {
  const strategy = isObject(updateStrategy) ? updateStrategy : {};
  const { rollingUpdate } = strategy;
  return { strategy, rolling: isObject(rollingUpdate) ? rollingUpdate : {} };
}

type Conditions = ReturnType<typeof conditionsOf>;

/** What the workload's controller says, as the end of a sentence. */
function causeIn(conditions: Conditions): string {
  const failure = FAILURES.map((type) => findCondition(conditions, type)).find((found) => found?.status === "True");
  if (failure) return textOf(failure);
  const progressing = findCondition(conditions, "Progressing");
  return progressing?.status === "False" ? textOf(progressing) : "";
}

/** A paused Deployment does not start the pods of a template that it has none of. */
function pauseIn(object: Observed): string {
  const [spec, status] = [partOf(object, "spec"), partOf(object, "status")];
  const isHeld = object.kind === "Deployment" && spec["paused"] === true && countOf(status["updatedReplicas"]) === 0;
  return isHeld ? ": the rollout is paused, so it has no pods of this template" : "";
}

/** Conditions that are not `True` while an object does not do what it is for. */
const WORKING = ["Ready", "Available", "Established", "NamesAccepted", "AbleToScale", "ScalingActive"];
/** Conditions that are `True` then. */
const BROKEN = ["Stalled", "Dangling"];
/** Reasons of these conditions for what a user asked for. */
const ON_PURPOSE: ReadonlySet<string> = new Set(["ScalingDisabled", "Suspended", "Paused"]);

/**
 * For kinds without a health rule, which count as healthy as soon as they exist: a condition by which the object's
 * controller reports that it does not work, such as that of a HorizontalPodAutoscaler without its target.
 */
export function whyBroken(object: Observed): Unhealthy | undefined {
  const conditions = conditionsOf(object);
  const find = (types: readonly string[], status: string): Conditions[number] | undefined =>
    types
      .map((type) => findCondition(conditions, type))
      .find((found) => found?.status === status && !ON_PURPOSE.has(found.reason ?? ""));
  const found = find(BROKEN, "True") ?? find(WORKING, "False");
  return found && { reason: "Unhealthy", message: `${found.type} is ${found.status}${textOf(found)}` };
}

/** The rule only says yes or no; the phase or the condition that is not true usually is the reason. */
function ruleVerdict(object: Observed, status: JsonObject, owner: string | undefined): string {
  const verdict = `${owner === undefined ? "its kind's health rule" : `InterpretHealth of ${owner}`} says Unhealthy`;
  const phase = status["phase"];
  if (typeof phase === "string" && phase !== "") return `${verdict}: its phase is ${phase}`;
  const untrue = conditionsOf(object).find(({ status: value, type }) => value === "False" && type !== "Suspended");
  if (untrue) return `${verdict}: ${untrue.type} is False${textOf(untrue)}`;
  // A user's own rule may ask for something else.
  return asksForAddress(object) && !hasAddress(status)
    ? `${verdict}, and it has no address: no controller on the member has set status.loadBalancer.ingress`
    : verdict;
}

/** Whether the built-in rule of the kind asks for an address. The type is unknown if only the status was reported. */
function asksForAddress(object: Observed): boolean {
  const { type = "LoadBalancer" } = partOf(object, "spec");
  return object.kind === "Ingress" || (object.kind === "Service" && type === "LoadBalancer");
}

function hasAddress({ loadBalancer }: JsonObject): boolean {
  const { ingress } = isObject(loadBalancer) ? loadBalancer : {};
  return Array.isArray(ingress) && ingress.length > 0;
}

/** `: Reason: message` */
function textOf({ reason, message }: { readonly reason?: unknown; readonly message?: unknown }): string {
  const words = [reason, message].filter((text) => typeof text === "string" && text !== "");
  return words.map((text) => `: ${steady(String(text))}`).join("");
}

/** Every attempt to create a pod has another name for it; a message that repeats it would be written each time. */
function steady(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\bpods "([^"]+)-[a-z0-9]{5}"/g, 'pods "$1-…"')
    .trim();
}

function partOf(object: Observed, name: "spec" | "status"): JsonObject {
  const part = (object as unknown as Readonly<Record<string, unknown>>)[name];
  return isObject(part) ? part : {};
}
