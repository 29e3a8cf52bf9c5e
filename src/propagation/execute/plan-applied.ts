/** Decides what a Work's `Applied` condition says after its manifests were delivered. Pure. */
import type { Work } from "../../api/index.ts";
import { messageOf } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ApplyOutcome } from "../../delivery/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";

/** What became of one manifest: an outcome of delivery, or the error that stopped it. */
export type Attempt = ApplyOutcome | { result: "failed"; error: unknown };

/** Undefined when every manifest is in place. */
export function failureOf(attempts: readonly { kind: string; attempt: Attempt }[]): string | undefined {
  const messages = attempts.flatMap(({ kind, attempt }) => {
    if (attempt.result === "failed") return [messageOf(attempt.error)];
    // A namespace that the member already has serves as well as ours; it is used and never changed or deleted.
    return attempt.result === "conflict" && kind !== "Namespace" ? [attempt.message] : [];
  });
  return messages.length > 0 ? messages.join("; ") : undefined;
}

export function planApplied(work: DeepReadonly<Work>, failure: string | undefined, now: string): DeepReadonly<Work> {
  const conditions = withCondition(
    work.status?.conditions ?? [],
    failure === undefined
      ? { type: "Applied", status: "True", reason: "AppliedSuccessful", message: "Manifest has been successfully applied" }
      : { type: "Applied", status: "False", reason: "AppliedFailed", message: failure },
    now,
  );
  return conditions === work.status?.conditions ? work : { ...work, status: { ...work.status, conditions } };
}

/** Whether the Work is being dispatched; said only once it was suspended, because everything else is dispatched. */
export function planDispatching(work: DeepReadonly<Work>, now: string): DeepReadonly<Work> {
  const before = work.status?.conditions ?? [];
  const isSuspended = work.spec.suspendDispatching === true;
  if (!isSuspended && !findCondition(before, "Dispatching")) return work;
  const conditions = withCondition(
    before,
    isSuspended
      ? { type: "Dispatching", status: "False", reason: "SuspendDispatching", message: "Work dispatching is in a suspended state." }
      : { type: "Dispatching", status: "True", reason: "Dispatching", message: "Work is being dispatched to member clusters." },
    now,
  );
  return conditions === before ? work : { ...work, status: { ...work.status, conditions } };
}
