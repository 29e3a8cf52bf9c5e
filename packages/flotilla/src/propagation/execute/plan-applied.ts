/** Computes a Work's conditions after its manifests were delivered. Pure. */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { KubernetesObject, NextCondition } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { equalJson, messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isStatusChange } from "@flotilla/controller-runtime";
import { mayHaveArrived, obstacleOf } from "../../delivery/obstacles.ts";
import type { ApplyOutcome } from "../../delivery/delivery.ts";
import { OscillationError } from "../../delivery/oscillations.ts";
import {
  ANSWER_PENDING,
  APPLIED_FAILED,
  KIND_NOT_SERVED,
  MEMBER_UNREACHABLE,
  NO_ANSWER,
  OSCILLATING,
  RELEASE_LEFT,
  RELEASE_STARTS_OVER,
  RELEASE_STOPPED,
  REPLICAS_LEFT,
  TERMINATING,
} from "../../flotilla-names.ts";
import { DRIFTED } from "./plan-drift.ts";
import { ReleaseStartsOverError, ReleaseStoppedError } from "./release-limit.ts";
/** The result for one manifest: a delivery outcome, the error that stopped it, or that its object is unmanaged. */
export type Attempt = ApplyOutcome | { result: "failed"; error: unknown } | { result: "unmanaged" };

export interface Failure {
  reason:
    | typeof APPLIED_FAILED
    | typeof KIND_NOT_SERVED
    | typeof MEMBER_UNREACHABLE
    | typeof NO_ANSWER
    | typeof ANSWER_PENDING
    | typeof RELEASE_STARTS_OVER
    | typeof RELEASE_STOPPED
    | typeof OSCILLATING
    | typeof TERMINATING;
  message: string;
}

/** Undefined while nothing but time holds the objects that the member still has. */
export function terminatingOf(objects: readonly DeepReadonly<KubernetesObject>[]): Failure | undefined {
  const messages = objects.flatMap(({ kind, metadata: { namespace, name, finalizers = [] } }) =>
    finalizers.length === 0
      ? []
      : [
          `${kind} ${namespace ? `${namespace}/` : ""}${name} is being deleted on the member and waits for the finalizer ${finalizers.join(", ")}`,
        ],
  );
  return messages.length === 0 ? undefined : { reason: TERMINATING, message: messages.join("; ") };
}

/** The state while a request takes longer than usual. */
export function pendingAnswer(cluster: string): Failure {
  return { reason: ANSWER_PENDING, message: `${cluster} has not answered yet` };
}

/** Undefined when every manifest is applied. */
export function failureOf(attempts: readonly { servesAsItIs?: boolean; attempt: Attempt }[]): Failure | undefined {
  const messages = attempts.flatMap(({ servesAsItIs, attempt }) => {
    if (attempt.result === "failed") return [messageOf(attempt.error)];
    return attempt.result === "conflict" && !servesAsItIs ? [attempt.message] : [];
  });
  if (messages.length === 0) return undefined;
  return {
    reason: reasonOf(attempts.flatMap(({ attempt }) => (attempt.result === "failed" ? [attempt.error] : []))),
    message: messages.join("; "),
  };
}

function reasonOf(errors: readonly unknown[]): Failure["reason"] {
  if (errors.some((error) => obstacleOf(error) === "missing-kind")) return KIND_NOT_SERVED;
  if (errors.some((error) => error instanceof ReleaseStartsOverError)) return RELEASE_STARTS_OVER;
  if (errors.some((error) => error instanceof ReleaseStoppedError)) return RELEASE_STOPPED;
  if (errors.some((error) => error instanceof OscillationError)) return OSCILLATING;
  if (!errors.some((error) => obstacleOf(error) === "unreachable")) return APPLIED_FAILED;
  return errors.some(mayHaveArrived) ? NO_ANSWER : MEMBER_UNREACHABLE;
}

/** Reasons that say nothing about the object on the member: the hub could not ask. */
const UNASKED: ReadonlySet<string> = new Set([MEMBER_UNREACHABLE, NO_ANSWER, ANSWER_PENDING]);

/**
 * `generation`: the generation of the Work that was delivered. The condition keeps it, so that a Work that is delivered
 * again without a change, such as by a hub that was restarted, stays applied while its member is unreachable.
 */
export function planApplied(
  work: DeepReadonly<Work>,
  failure: Failure | undefined,
  now: string,
  generation = work.metadata.generation,
): DeepReadonly<Work> {
  const applied = findCondition(work.status?.conditions, "Applied");
  const before = applied?.reason;
  const isKnown = applied?.status === "True" && applied.observedGeneration !== undefined;
  if (failure && UNASKED.has(failure.reason) && isKnown && applied.observedGeneration === work.metadata.generation)
    return work;
  // A later request that did not reach the member does not disprove an earlier one that may have.
  if (failure?.reason === MEMBER_UNREACHABLE && before === NO_ANSWER) return work;
  // An unreachable member is probed periodically; a slow probe is not worth a report.
  if (failure?.reason === ANSWER_PENDING && (before === NO_ANSWER || before === MEMBER_UNREACHABLE)) return work;
  return withNext(
    work,
    failure === undefined
      ? {
          type: "Applied",
          status: "True",
          reason: "AppliedSuccessful",
          message: "Manifest has been successfully applied",
          observedGeneration: generation,
        }
      : { type: "Applied", status: "False", ...failure },
    now,
  );
}

/**
 * The `Dispatching` condition; written only after the Work was suspended once, because every other Work is dispatched.
 */
export function planDispatching(work: DeepReadonly<Work>, now: string): DeepReadonly<Work> {
  const isSuspended = work.spec.suspendDispatching === true;
  if (!isSuspended && !findCondition(work.status?.conditions, "Dispatching")) return work;
  return withNext(
    work,
    isSuspended
      ? {
          type: "Dispatching",
          status: "False",
          reason: "SuspendDispatching",
          message: "Work dispatching is in a suspended state.",
        }
      : {
          type: "Dispatching",
          status: "True",
          reason: "Dispatching",
          message: "Work is being dispatched to member clusters.",
        },
    now,
  );
}

/** Whether Flotilla manages the objects; written only after they were unmanaged once. Not a Karmada condition. */
export function planManaged(work: DeepReadonly<Work>, isManaged: boolean, now: string): DeepReadonly<Work> {
  if (isManaged && !findCondition(work.status?.conditions, "Managed")) return work;
  return withNext(
    work,
    isManaged
      ? { type: "Managed", status: "True", reason: "Managed", message: "The member's objects follow the template." }
      : {
          type: "Managed",
          status: "False",
          reason: "Released",
          message:
            "The template or its dependent opted out of management here: the member's objects stay unchanged and are not deleted.",
        },
    now,
  );
}

/** Whether the member decides the replicas of an object; written only after it did so once. Not a Karmada condition. */
export function planReplicasLeft(work: DeepReadonly<Work>, isLeft: boolean, now: string): DeepReadonly<Work> {
  if (!isLeft && !findCondition(work.status?.conditions, REPLICAS_LEFT)) return work;
  return withNext(
    work,
    isLeft
      ? {
          type: REPLICAS_LEFT,
          status: "True",
          reason: "MemberDecides",
          message: "spec.replicas is left to the member: to its autoscaler, to a Retain rule or by a label",
        }
      : {
          type: REPLICAS_LEFT,
          status: "False",
          reason: "AsAsked",
          message: "The member's object has the replicas of the Work",
        },
    now,
  );
}

/** Which images a Retain rule keeps from the member; written only after it did so once. Not a Karmada condition. */
export function planReleaseLeft(work: DeepReadonly<Work>, kept: string | undefined, now: string): DeepReadonly<Work> {
  if (kept === undefined && !findCondition(work.status?.conditions, RELEASE_LEFT)) return work;
  return withNext(
    work,
    kept === undefined
      ? {
          type: RELEASE_LEFT,
          status: "False",
          reason: "AsAsked",
          message: "The member's object has the images of the Work",
        }
      : { type: RELEASE_LEFT, status: "True", reason: "RetainRule", message: kept },
    now,
  );
}

/** The conditions that execute writes. */
const OWN_CONDITIONS = ["Applied", "Dispatching", "Managed", DRIFTED, REPLICAS_LEFT, RELEASE_LEFT];

/**
 * Whether only the parts of the status changed that reflect writes, or the generation that was applied: they do not
 * affect what is applied.
 */
export function isReflection(before: DeepReadonly<Work> | undefined, now: DeepReadonly<Work>): boolean {
  if (!before || !isStatusChange(before, now)) return false;
  const own = ({ status }: DeepReadonly<Work>): unknown[] =>
    OWN_CONDITIONS.map((type) => {
      const condition = findCondition(status?.conditions, type);
      return condition ? { ...condition, observedGeneration: null } : null;
    });
  return equalJson(own(before), own(now));
}

function withNext(work: DeepReadonly<Work>, next: NextCondition, now: string): DeepReadonly<Work> {
  const before = work.status?.conditions ?? [];
  const conditions = withCondition(before, next, now);
  return conditions === before ? work : { ...work, status: { ...work.status, conditions } };
}
