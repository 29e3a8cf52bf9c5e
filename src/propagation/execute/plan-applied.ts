/** Decides what a Work's conditions say after its manifests were delivered. Pure. */
import type { Work } from "../../api/index.ts";
import { messageOf } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { mayHaveArrived, obstacleOf } from "../../delivery/index.ts";
import type { ApplyOutcome } from "../../delivery/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";
import type { NextCondition } from "../../machinery/index.ts";
import { ANSWER_PENDING, MEMBER_UNREACHABLE, NO_ANSWER } from "../well-known.ts";

/** What became of one manifest: an outcome of delivery, the error that stopped it, or that its object is left alone. */
export type Attempt = ApplyOutcome | { result: "failed"; error: unknown } | { result: "unmanaged" };

export interface Failure {
  reason: "AppliedFailed" | "KindNotServed" | typeof MEMBER_UNREACHABLE | typeof NO_ANSWER | typeof ANSWER_PENDING;
  message: string;
}

/** What is known while a request is under way for longer than usual. */
export function pendingAnswer(cluster: string): Failure {
  return { reason: ANSWER_PENDING, message: `${cluster} has been asked and takes long to answer` };
}

/** Undefined when every manifest is in place. */
export function failureOf(
  attempts: readonly { kind: string; servesAsItIs?: boolean; attempt: Attempt }[],
): Failure | undefined {
  const messages = attempts.flatMap(({ kind, servesAsItIs, attempt }) => {
    if (attempt.result === "failed") return [messageOf(attempt.error)];
    // A namespace that the member already has serves as well as ours, and so do some definitions; they are used and
    // never changed or deleted.
    return attempt.result === "conflict" && kind !== "Namespace" && !servesAsItIs ? [attempt.message] : [];
  });
  if (messages.length === 0) return undefined;
  return {
    reason: reasonOf(attempts.flatMap(({ attempt }) => (attempt.result === "failed" ? [attempt.error] : []))),
    message: messages.join("; "),
  };
}

function reasonOf(errors: readonly unknown[]): Failure["reason"] {
  if (errors.some((error) => obstacleOf(error) === "missing-kind")) return "KindNotServed";
  if (!errors.some((error) => obstacleOf(error) === "unreachable")) return "AppliedFailed";
  return errors.some(mayHaveArrived) ? NO_ANSWER : MEMBER_UNREACHABLE;
}

export function planApplied(work: DeepReadonly<Work>, failure: Failure | undefined, now: string): DeepReadonly<Work> {
  const before = findCondition(work.status?.conditions ?? [], "Applied")?.reason;
  // That a later request did not get there says nothing about an earlier one that may have.
  if (failure?.reason === MEMBER_UNREACHABLE && before === NO_ANSWER) return work;
  // A member that is known to be away is tried now and then; that one such try takes long is no news.
  if (failure?.reason === ANSWER_PENDING && (before === NO_ANSWER || before === MEMBER_UNREACHABLE)) return work;
  return withNext(
    work,
    failure === undefined
      ? {
          type: "Applied",
          status: "True",
          reason: "AppliedSuccessful",
          message: "Manifest has been successfully applied",
        }
      : { type: "Applied", status: "False", ...failure },
    now,
  );
}

/** Whether the Work is being dispatched; said only once it was suspended, because everything else is dispatched. */
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

/**
 * Whether the objects are Flotilla's to change; said only once they were left alone. Not one of Karmada's conditions.
 */
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
            "The template, or what needs it, asks to be left alone here: the member's objects run on as they are and are not deleted.",
        },
    now,
  );
}

function withNext(work: DeepReadonly<Work>, next: NextCondition, now: string): DeepReadonly<Work> {
  const before = work.status?.conditions ?? [];
  const conditions = withCondition(before, next, now);
  return conditions === before ? work : { ...work, status: { ...work.status, conditions } };
}
