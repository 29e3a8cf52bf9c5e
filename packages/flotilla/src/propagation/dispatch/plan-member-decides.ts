/**
 * Computes the `MemberDecides` condition of a binding: a user's Retain rule leaves fields of a release to the members, so
 * that the values of the template apply only where an object is created. None while no rule does. Pure.
 */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { RetainedField } from "../../interpreter/retained-fields.ts";

/** Not a Karmada condition. */
export const MEMBER_DECIDES = "MemberDecides";

/** `owner` is the user's object that has the rule. Undefined when no rule leaves anything to the members. */
export function renderMemberDecides(
  retained: readonly RetainedField[] = [],
  owner = "a user's rule",
): string | undefined {
  if (retained.length === 0) return undefined;
  const paths = retained.map(({ path }) => path).join(", ");
  return `the Retain rule of ${owner} leaves ${paths} to the members; the template's values apply only to objects that are created`;
}

export function planMemberDecides(
  binding: DeepReadonly<ResourceBinding>,
  message: string | undefined,
  now: string,
): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  if (message === undefined && !findCondition(before, MEMBER_DECIDES)) return binding;
  const conditions = withCondition(
    before,
    message === undefined
      ? { type: MEMBER_DECIDES, status: "False", reason: "NoRule", message: "The template decides on all members." }
      : { type: MEMBER_DECIDES, status: "True", reason: "RetainRule", message },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
