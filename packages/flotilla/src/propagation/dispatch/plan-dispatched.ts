/**
 * Computes the `Dispatched` condition of a binding: none while dispatch succeeds, and the reason when it fails. Pure.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import { messageOf, type DeepReadonly } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { FailedRollback, HeldRollout } from "@flotilla/openkruise";
import { findCondition, withCondition } from "@flotilla/apimachinery";
import { rejectionOf } from "@flotilla/controller-runtime";
import type { FailedWrite } from "@flotilla/controller-runtime";
import { clusterNameOf } from "@flotilla/karmada";
import { DISPATCHED, WORKS_REJECTED } from "../../flotilla-names.ts";
import { QUOTA_EXCEEDED } from "../../quota/quota-charge.ts";
import type { DispatchPlan } from "./plan-dispatch.ts";

/** Not a Karmada condition: in Karmada, a failing override is at best an event. */
const TYPE = DISPATCHED;

/** The reason and message for copies that cannot be made. */
export interface DispatchFailure {
  reason:
    | "DivideFailed"
    | "ForeignResource"
    | "QuotaExceeded"
    | "RenderFailed"
    | "RolloutHeld"
    | "RollbackFailed"
    | typeof WORKS_REJECTED;
  message: string;
}

/** The number of names in a message; the rest is counted. */
const NAMED = 10;
const KEPT = "; these members get no new copy";

/** A user created the binding by hand; it is not processed. */
export const FOREIGN: DispatchFailure = {
  reason: "ForeignResource",
  message: "the resource is in another namespace than this binding; nothing is dispatched",
};

/** `refusal` names the quota. What is sent again when it has room is the template of then. */
export const overQuota = (refusal: string): DispatchFailure => ({
  reason: QUOTA_EXCEEDED,
  message: `${refusal} The template is not sent to members; they keep what they have.`,
});

export function planDispatched(
  binding: DeepReadonly<ResourceBinding>,
  failure: DispatchFailure | undefined,
  now: string,
): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  if (failure === undefined && !findCondition(before, TYPE)) return binding;
  const conditions = withCondition(
    before,
    failure === undefined
      ? { type: TYPE, status: "True", reason: "Success", message: "Works match the template and its overrides." }
      : { type: TYPE, status: "False", reason: failure.reason, message: failure.message },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}

/** An indivisible template fails for every member alike and is reported once; other failures are reported by member. */
export function failureOf(
  failures: readonly { cluster: string; error: unknown }[],
  { heldRollout: held, failedRollbacks = [] }: Pick<DispatchPlan, "heldRollout" | "failedRollbacks"> = {},
): DispatchFailure | undefined {
  const [first] = failures;
  if (!first && failedRollbacks.length > 0)
    return { reason: "RollbackFailed", message: renderFailedRollbacks(failedRollbacks) };
  if (!first) return held && { reason: "RolloutHeld", message: renderHeld(held) };
  if (first.error instanceof InterpretError && failures.every(({ error }) => error === first.error)) {
    return {
      reason: "DivideFailed",
      message: `${failures.map(({ cluster }) => cluster).join(", ")}: ${first.error.message}${KEPT}`,
    };
  }
  return {
    reason: "RenderFailed",
    message: `${failures.map(({ cluster, error }) => `${cluster}: ${messageOf(error)}`).join("; ")}${KEPT}`,
  };
}

/** What was tried, what came of it, and when it is tried again. */
function renderFailedRollbacks(failed: readonly FailedRollback[]): string {
  const more = failed.length > NAMED ? ` and ${failed.length - NAMED} more` : "";
  const members = failed
    .slice(0, NAMED)
    .map(({ cluster, asked, expected }) => `${cluster} keeps ${expected} instead of ${asked}`)
    .join(", ");
  return (
    "the previous template was sent to roll back pods of the release, but the member does not keep the " +
    `requested number of new pods (${members}${more}): something there changes the partition; nothing more ` +
    "is sent until the template, its partition or a rule changes"
  );
}

function renderHeld({ demanded, waiting, clusters }: HeldRollout): string {
  const more = clusters.length > NAMED ? ` and ${clusters.length - NAMED} more` : "";
  return (
    `${waiting} of ${demanded} pods of the rollout wait for ${clusters.slice(0, NAMED).join(", ")}${more}, which ` +
    `currently ${clusters.length === 1 ? "gets" : "get"} no copies`
  );
}

/** Works that the hub itself cannot write, by cause, before the copies that cannot be made. */
export function unwrittenFailure(
  failed: readonly Pick<FailedWrite, "key" | "verb" | "error">[],
  { message }: Partial<DispatchFailure> = {},
): DispatchFailure {
  const causes = Map.groupBy(failed, ({ verb, error }) => JSON.stringify([verb === "delete", rejectionOf(error)]));
  const texts = Array.from(causes, ([cause, writes]) => {
    const [isDelete, why] = JSON.parse(cause) as [boolean, string];
    const members = writes.map(({ key }) => clusterNameOf(key.namespace ?? "") ?? key.namespace ?? "");
    return `${listOf(members)}: the hub cannot ${isDelete ? "delete" : "write"} the Work: ${why}`;
  });
  const own = `${texts.slice(0, NAMED).join("; ")}; these members keep what they have`;
  return { reason: WORKS_REJECTED, message: message === undefined ? own : `${own}; ${message}` };
}

/** Copies stay on members as long as the Works of a deleted binding exist. */
export const undeletedFailure = (error: unknown): DispatchFailure => ({
  reason: WORKS_REJECTED,
  message: `the hub cannot delete the Works: ${rejectionOf(error)}; members keep their copies`,
});

function listOf(members: readonly string[]): string {
  const more = members.length > NAMED ? ` and ${members.length - NAMED} more` : "";
  return `${members.toSorted().slice(0, NAMED).join(", ")}${more}`;
}
