/** Decides what a Work's conditions say after its manifests were delivered. Pure. */
import type { Work } from "../../api/index.ts";
import { messageOf } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ApplyOutcome } from "../../delivery/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";
import type { NextCondition } from "../../machinery/index.ts";
import { obstacleOf } from "./obstacles.ts";

/** What became of one manifest: an outcome of delivery, the error that stopped it, or that its object is left alone. */
export type Attempt = ApplyOutcome | { result: "failed"; error: unknown } | { result: "unmanaged" };

export interface Failure {
  reason: "AppliedFailed" | "KindNotServed";
  message: string;
}

/** Undefined when every manifest is in place. */
export function failureOf(attempts: readonly { kind: string; attempt: Attempt }[]): Failure | undefined {
  const messages = attempts.flatMap(({ kind, attempt }) => {
    if (attempt.result === "failed") return [messageOf(attempt.error)];
    // A namespace that the member already has serves as well as ours; it is used and never changed or deleted.
    return attempt.result === "conflict" && kind !== "Namespace" ? [attempt.message] : [];
  });
  if (messages.length === 0) return undefined;
  const isMissingKind = attempts.some(({ attempt }) => attempt.result === "failed" && obstacleOf(attempt.error) === "missing-kind");
  return { reason: isMissingKind ? "KindNotServed" : "AppliedFailed", message: messages.join("; ") };
}

export function planApplied(work: DeepReadonly<Work>, failure: Failure | undefined, now: string): DeepReadonly<Work> {
  return withNext(work, failure === undefined ? { type: "Applied", status: "True", reason: "AppliedSuccessful", message: "Manifest has been successfully applied" } : { type: "Applied", status: "False", ...failure }, now);
}

/** Whether the Work is being dispatched; said only once it was suspended, because everything else is dispatched. */
export function planDispatching(work: DeepReadonly<Work>, now: string): DeepReadonly<Work> {
  const isSuspended = work.spec.suspendDispatching === true;
  if (!isSuspended && !findCondition(work.status?.conditions, "Dispatching")) return work;
  return withNext(
    work,
    isSuspended
      ? { type: "Dispatching", status: "False", reason: "SuspendDispatching", message: "Work dispatching is in a suspended state." }
      : { type: "Dispatching", status: "True", reason: "Dispatching", message: "Work is being dispatched to member clusters." },
    now,
  );
}

/** Whether the objects are Flotilla's to change; said only once they were left alone. Not one of Karmada's conditions. */
export function planManaged(work: DeepReadonly<Work>, isManaged: boolean, now: string): DeepReadonly<Work> {
  if (isManaged && !findCondition(work.status?.conditions, "Managed")) return work;
  return withNext(
    work,
    isManaged
      ? { type: "Managed", status: "True", reason: "Managed", message: "The member's objects follow the template." }
      : { type: "Managed", status: "False", reason: "Released", message: "The template asks to be left alone here: the member's objects run on as they are and are not deleted." },
    now,
  );
}

function withNext(work: DeepReadonly<Work>, next: NextCondition, now: string): DeepReadonly<Work> {
  const before = work.status?.conditions ?? [];
  const conditions = withCondition(before, next, now);
  return conditions === before ? work : { ...work, status: { ...work.status, conditions } };
}
