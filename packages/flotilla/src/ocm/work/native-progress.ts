/**
 * The progress of a workload of a supported kind, if the work has no rule for it. OCM's own agent reports nothing then,
 * and a rollout over clusters waits forever.
 */
import { findCondition, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject, NextCondition } from "@flotilla/apimachinery";
import type { ConditionRule } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { knownDefinitions } from "../../interpreter/known-definitions.ts";
import { conditionsOf } from "@flotilla/kubernetes";
import type { AnyDefinition, Progress } from "@flotilla/kubernetes";

type Object = DeepReadonly<KubernetesObject>;

/** The reason of native conditions; the prefix makes them count like those of rules. */
const NATIVE_REASON = "ConditionRuleNative";

type ProgressRule = NonNullable<AnyDefinition["progress"]>;

/** By group and kind. */
const PROGRESS: ReadonlyMap<string, ProgressRule> = new Map(knownDefinitions.flatMap(progressOf));

function progressOf({ kind: { group, kind }, progress }: AnyDefinition): [id: string, progress: ProgressRule][] {
  return progress ? [[`${group} ${kind}`, progress]] : [];
}

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
  const progress = PROGRESS.get(id);
  if (!progress) return undefined;
  // An object that is being deleted is created again.
  if (object.metadata.deletionTimestamp) return { isProgressing: true };
  if (progress !== "health") return progress(object);
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

function statusOf(object: Object): Readonly<Record<string, unknown>> {
  const { status } = object as { status?: unknown };
  return isObject(status) ? status : {};
}
