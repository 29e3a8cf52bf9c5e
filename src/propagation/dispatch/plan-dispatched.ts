/** Decides what a binding says about its dispatch: nothing while it works, and what is wrong when it does not. Pure. */
import type { ResourceBinding } from "../../api/index.ts";
import { messageOf, type DeepReadonly } from "../../base/index.ts";
import { InterpretError } from "../../interpreter/index.ts";
import type { HeldRollout } from "../../interpreter/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";

/** Not one of Karmada's conditions: there, a failing override is an event at best. */
const TYPE = "Dispatched";

/** What keeps copies from being made, in one word and in a sentence. */
export interface DispatchFailure {
  reason: "DivideFailed" | "ForeignResource" | "RenderFailed" | "RolloutHeld";
  message: string;
}

/** The first that a sentence names; the others are counted. */
const NAMED = 10;
const KEPT = "; these members keep what they have";

/** Somebody made the binding by hand; nothing is done for it. */
export const FOREIGN: DispatchFailure = {
  reason: "ForeignResource",
  message: "a binding is about a resource of its own namespace, and this resource is in another; nothing is dispatched",
};

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
      ? { type: TYPE, status: "True", reason: "Success", message: "Works follow the template and its overrides." }
      : { type: TYPE, status: "False", reason: failure.reason, message: failure.message },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}

/** A template that cannot be divided fails for every member alike and is told once; anything else is told by member. */
export function failureOf(
  failures: readonly { cluster: string; error: unknown }[],
  held?: HeldRollout,
): DispatchFailure | undefined {
  const [first] = failures;
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

function renderHeld({ demanded, waiting, clusters }: HeldRollout): string {
  const more = clusters.length > NAMED ? ` and ${clusters.length - NAMED} more` : "";
  return `${waiting} of ${demanded} pods of the rollout wait for ${clusters.slice(0, NAMED).join(", ")}${more}, which ${clusters.length === 1 ? "gets" : "get"} no copies at the moment`;
}
