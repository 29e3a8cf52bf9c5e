/** Decides what a binding says about its dispatch: nothing while it works, and what is wrong when it does not. Pure. */
import type { ResourceBinding } from "../../api/index.ts";
import { messageOf, type DeepReadonly } from "../../base/index.ts";
import { InterpretError } from "../../interpreter/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";

/** Not one of Karmada's conditions: there, a failing override is an event at best. */
const TYPE = "Dispatched";

/** What keeps copies from being made, in one word and in a sentence. */
export interface DispatchFailure {
  reason: "DivideFailed" | "RenderFailed";
  message: string;
}

export function planDispatched(binding: DeepReadonly<ResourceBinding>, failure: DispatchFailure | undefined, now: string): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  if (failure === undefined && !findCondition(before, TYPE)) return binding;
  const conditions = withCondition(
    before,
    failure === undefined
      ? { type: TYPE, status: "True", reason: "Success", message: "Works follow the template and its overrides." }
      : { type: TYPE, status: "False", reason: failure.reason, message: `${failure.message}; these members keep what they have` },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}

/** A template that cannot be divided fails for every member alike and is told once; anything else is told by member. */
export function failureOf(failures: readonly { cluster: string; error: unknown }[]): DispatchFailure | undefined {
  const [first] = failures;
  if (!first) return undefined;
  if (first.error instanceof InterpretError && failures.every(({ error }) => error === first.error)) {
    return { reason: "DivideFailed", message: `${failures.map(({ cluster }) => cluster).join(", ")}: ${first.error.message}` };
  }
  return { reason: "RenderFailed", message: failures.map(({ cluster, error }) => `${cluster}: ${messageOf(error)}`).join("; ") };
}
