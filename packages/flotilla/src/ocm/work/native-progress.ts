/**
 * The progress of a workload of a supported kind, if the work has no rule for it. OCM's own agent reports nothing then,
 * and a rollout over clusters waits forever.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { ConditionRule } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Progress } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { findCondition, isConditionTrue, type NextCondition } from "@flotilla/apimachinery";

type Object = DeepReadonly<KubernetesObject>;

/** The reason of native conditions; the prefix makes them count like those of rules. */
const NATIVE_REASON = "ConditionRuleNative";

/** Kinds whose health reports that the rollout of the latest spec is complete, in any version. */
const ROLLED_OUT: ReadonlySet<string> = new Set([
  ...["Deployment", "StatefulSet", "DaemonSet"].map((kind) => `apps ${kind}`),
  ...kruiseDefinitions.filter(({ progress }) => progress === "health").map(({ kind }) => `${kind.group} ${kind.kind}`),
  "argoproj.io Rollout",
]);
/** Kinds that run to completion. */
const FINISHED: ReadonlyMap<string, (object: Object) => Progress> = new Map([
  ["batch Job", ofJob],
  ...kruiseDefinitions.flatMap(({ kind, progress }): [string, (object: Object) => Progress][] =>
    typeof progress === "function" ? [[`${kind.group} ${kind.kind}`, progress]] : [],
  ),
  [" Pod", ofPod],
]);

/** Undefined for unsupported kinds, and for manifests with their own rule. */
export async function nativeProgress(
  object: Object,
  rules: readonly DeepReadonly<ConditionRule>[],
  interpreter: Pick<Interpreter, "health">,
): Promise<NextCondition[]> {
  if (rules.some(({ condition }) => condition === "Progressing")) return [];
  const verdict = await verdictOn(object, interpreter);
  if (!verdict) return [];
  const { isProgressing, failure } = verdict;
  const name = `${object.kind} ${object.metadata.name}`;
  const progressing: NextCondition = {
    type: "Progressing",
    status: isProgressing ? "True" : "False",
    reason: NATIVE_REASON,
    message: isProgressing ? `${name} is progressing` : `${name} is up to date`,
  };
  return failure === undefined || rules.some(({ condition }) => condition === "Degraded")
    ? [progressing]
    : [progressing, { type: "Degraded", status: "True", reason: NATIVE_REASON, message: `${name}: ${failure}` }];
}

async function verdictOn(object: Object, interpreter: Pick<Interpreter, "health">): Promise<Progress | undefined> {
  const id = `${parseApiVersion(object.apiVersion).group} ${object.kind}`;
  const finished = FINISHED.get(id);
  if (!finished && !ROLLED_OUT.has(id)) return undefined;
  // An object that is being deleted is created again.
  if (object.metadata.deletionTimestamp) return { isProgressing: true };
  if (finished) return finished(object);
  const isDone = !hasSurplus(object) && (await interpreter.health(object)) === "Healthy";
  const failure = isDone ? undefined : missedDeadline(object);
  return { isProgressing: !isDone, failure };
}

/**
 * More pods than desired: a new pod that never becomes ready next to serving old ones looks healthy by the number of
 * available pods.
 */
function hasSurplus(object: Object): boolean {
  const wanted = (object as { spec?: { replicas?: unknown } }).spec?.replicas;
  const { replicas } = statusOf(object);
  return typeof wanted === "number" && typeof replicas === "number" && replicas > wanted;
}

function missedDeadline(object: Object): string | undefined {
  const condition = findCondition(conditionsOf(object), "Progressing");
  return condition?.status === "False" && condition.reason === "ProgressDeadlineExceeded"
    ? (condition.message ?? condition.reason)
    : undefined;
}

function ofJob(job: Object): Progress {
  const conditions = conditionsOf(job);
  const failed = findCondition(conditions, "Failed");
  if (failed?.status === "True") return { isProgressing: true, failure: failed.message || failed.reason || "failed" };
  const isSuspended = (job as { spec?: { suspend?: boolean } }).spec?.suspend === true;
  return { isProgressing: !isSuspended && !isConditionTrue(conditions, "Complete") };
}

function ofPod(pod: Object): Progress {
  const { phase, message } = statusOf(pod);
  if (phase === "Failed")
    return { isProgressing: true, failure: typeof message === "string" && message ? message : "failed" };
  return { isProgressing: phase !== "Succeeded" && !isConditionTrue(conditionsOf(pod), "Ready") };
}

function statusOf(object: Object): Readonly<Record<string, unknown>> {
  const { status } = object as { status?: unknown };
  return isObject(status) ? status : {};
}

interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(object: Object): readonly ObjectCondition[] {
  const { conditions } = statusOf(object);
  return Array.isArray(conditions)
    ? conditions.filter(
        (condition): condition is ObjectCondition => isObject(condition) && typeof condition["type"] === "string",
      )
    : [];
}
