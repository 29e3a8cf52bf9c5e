/** Decides what a binding says about its dispatch: nothing while it works, and what is wrong when it does not. Pure. */
import type { ResourceBinding } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { findCondition, withCondition } from "../../machinery/index.ts";

/** Not one of Karmada's conditions: there, a failing override is an event at best. */
const TYPE = "Dispatched";

export function planDispatched(binding: DeepReadonly<ResourceBinding>, failure: string | undefined, now: string): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions ?? [];
  if (failure === undefined && !findCondition(before, TYPE)) return binding;
  const conditions = withCondition(
    before,
    failure === undefined
      ? { type: TYPE, status: "True", reason: "Success", message: "Works follow the template and its overrides." }
      : { type: TYPE, status: "False", reason: "RenderFailed", message: `${failure}; these members keep what they have` },
    now,
  );
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
