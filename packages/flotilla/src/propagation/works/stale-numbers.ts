/**
 * Whether the numbers that a Work has of its member may have changed since. A member that rejects an update, or is not
 * sent it, still reports what it runs: its numbers are current. Pure.
 */
import { findCondition } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { INTERPRETED, KIND_NOT_SERVED, MEMBER_UNREACHABLE } from "../../flotilla-names.ts";

/** The rule that reads the status of the member's object failed. */
export const STATUS_UNREAD = "ReflectStatusFailed";

/** Reasons of the condition `Applied` of a member whose objects cannot be watched either. */
const UNWATCHED: ReadonlyMap<string, string> = new Map([
  [MEMBER_UNREACHABLE, "unreachable"],
  [KIND_NOT_SERVED, "kind not served"],
]);

/**
 * Undefined if the numbers are current, or if there are none. A member that is away may have got a copy that it has not
 * reported. `away`: why the member is away (`member-away.ts`).
 */
export function whyStale({ status }: DeepReadonly<Work>, away: string | undefined): string | undefined {
  const [reported] = status?.manifestStatuses ?? [];
  const applied = findCondition(status?.conditions, "Applied");
  if (reported === undefined && applied === undefined && away !== undefined) return away;
  if (reported?.status !== undefined) {
    const unwatched = applied?.status === "False" ? UNWATCHED.get(applied.reason) : undefined;
    if (away !== undefined || unwatched !== undefined) return away ?? unwatched;
  }
  const interpreted = findCondition(status?.conditions, INTERPRETED);
  return interpreted?.status === "False" && interpreted.reason === STATUS_UNREAD ? STATUS_UNREAD : undefined;
}
