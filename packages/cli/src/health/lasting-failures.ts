/**
 * Which failures are reported at once, and which only when they last: many heal by themselves within seconds, while
 * members join, CRDs are propagated and pods end. Pure.
 */
import type { Condition } from "@flotilla/apimachinery";
import { APPLIED_FAILED, STOPPED_REASONS, WORKS_REJECTED } from "@flotilla/flotilla";

type Failed = Pick<Condition, "reason" | "message" | "lastTransitionTime">;

/** Reasons in the scheduler's message that a member, a CRD or another binding may remove without the user. */
const PASSING_REJECTIONS =
  /taint \{cluster\.karmada\.io\/|API resource|process of eviction|same affinity group|no cluster exists/;
/** Responses of a member's validation, admission and authorization, which the same object gets again. */
const REJECTED = /denied|is invalid|is forbidden|not allowed/i;
/** The namespace is created again when its deletion is over. */
const PASSING_RESPONSE = /being terminated|being deleted/;

/** `Scheduled=False`: no member fits until a policy, a template or a member is changed. */
const isLastingMisfit = ({ reason = "", message = "" }: Failed): boolean =>
  reason === "NoClusterFit" && !PASSING_REJECTIONS.test(message);

/** `Applied=False`: the member rejects the object, or the hub has decided not to write it. */
const isLastingRejection = ({ reason = "", message = "" }: Failed): boolean =>
  STOPPED_REASONS.has(reason) ||
  (reason === APPLIED_FAILED && REJECTED.test(message) && !PASSING_RESPONSE.test(message));

/** `Dispatched=False`: copies that cannot be made or stored, until a policy, a template or a rule is changed. */
const UNRENDERABLE: ReadonlySet<string> = new Set([
  "RenderFailed",
  "DivideFailed",
  "ForeignResource",
  "QuotaExceeded",
  "RollbackFailed",
  WORKS_REJECTED,
]);

/** Whether waiting helps no more: the failure is one that lasts, or has lasted for long enough. */
export function isStuck(failed: Failed, { nowMs, stuckAfterMs }: { nowMs: number; stuckAfterMs: number }): boolean {
  const isOld = nowMs - Date.parse(failed.lastTransitionTime ?? "") > stuckAfterMs;
  return isOld || isLastingMisfit(failed) || isLastingRejection(failed) || UNRENDERABLE.has(failed.reason ?? "");
}

/** `, 2 more for less than 60 s`; empty if there are none. */
export const renderRecent = (count: number, { stuckAfterMs }: { stuckAfterMs: number }): string =>
  count > 0 ? `, ${count} more for less than ${stuckAfterMs / 1000} s` : "";
