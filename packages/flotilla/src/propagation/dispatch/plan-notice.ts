/**
 * Conditions of a binding that report what dispatch cannot do as asked and that blocks nothing: a binding has none while
 * there is nothing to report. Pure. They are not Karmada's.
 */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

/** A user's Retain rule leaves fields of a release to the members. */
export const MEMBER_DECIDES = "MemberDecides";
/** Whether members have the pods that the template names. */
export const PODS_FOUND = "PodsFound";
/** Whether the pods that a raised partition asks for are rolled back. */
export const PODS_ROLLED_BACK = "PodsRolledBack";
/** Whether the numbers of the template count over the fleet, whatever rules users have. */
export const DIVIDED_OVER_FLEET = "DividedOverFleet";
/** Whether the hub has the template of a binding that nothing owns. */
export const TEMPLATE_FOUND = "TemplateFound";
/** Whether the template is in use: not while its deletion waits for a finalizer, and members keep their copies. */
export const TEMPLATE_ACTIVE = "TemplateActive";

export interface Notice {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** What the conditions say when there is nothing to report any longer. */
const RESOLVED: Readonly<Record<string, Notice>> = {
  [MEMBER_DECIDES]: { status: "False", reason: "NoRule", message: "The template decides on all members." },
  [PODS_FOUND]: { status: "True", reason: "AllFound", message: "No pod is named that members do not have." },
  [DIVIDED_OVER_FLEET]: {
    status: "True",
    reason: "AsKind",
    message: "The numbers of the template are divided as its kind divides them.",
  },
  [TEMPLATE_FOUND]: { status: "True", reason: "Found", message: "The hub has the template." },
  [PODS_ROLLED_BACK]: {
    status: "True",
    reason: "AsAsked",
    message: "No more pods have the release than the partition lets through, or they are being rolled back.",
  },
};

export function planNotice(
  binding: DeepReadonly<ResourceBinding>,
  type: string,
  notice: Notice | undefined,
  now: string,
): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  const next = notice ?? (findCondition(before, type) ? RESOLVED[type] : undefined);
  if (!next) return binding;
  const conditions = withCondition(before, { type, ...next }, now);
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
