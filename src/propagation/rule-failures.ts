/** A rule that fails is told about on the object that it failed for, where its owner looks; the stage tries again with back-off. */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { InterpretError } from "../interpreter/index.ts";
import type { EventRecorder } from "../runtime/index.ts";

/** Under the reasons that Karmada's users know. */
export type RuleFailure = "AggregateStatusFailed" | "GetDependenciesFailed" | "GetReplicasFailed" | "InterpretHealthFailed" | "ReflectStatusFailed";

export type TellRuleFailure = (object: DeepReadonly<KubernetesObject>, reason: RuleFailure, error: unknown) => void;

export function createTellRuleFailure(hub: string, events: EventRecorder): TellRuleFailure {
  return (object, reason, error) => {
    if (error instanceof InterpretError) events.record(hub, object, { type: "Warning", reason, message: error.message });
  };
}
