/** A rule that fails is told about on the object that it failed for, where its owner looks; the stage tries again with back-off. */
import type { KubernetesObject } from "../api/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import { InterpretError } from "../interpreter/index.ts";
import type { EventRecorder } from "../runtime/index.ts";

/** Under the reasons that Karmada's users know. */
export type RuleFailure = "AggregateStatusFailed" | "DivideFailed" | "GetDependenciesFailed" | "GetReplicasFailed" | "InterpretHealthFailed" | "ReflectStatusFailed";

export type TellRuleFailure = (object: DeepReadonly<KubernetesObject>, reason: RuleFailure, error: unknown) => void;

/** The same failure is told again after this long: events about one object are few, and a new failure must find room among them. */
const TELL_AGAIN_MS = 5 * 60_000;
const MAX_REMEMBERED = 10_000;

export function createTellRuleFailure({ hub, events, clock }: { hub: string; events: EventRecorder; clock: Clock }): TellRuleFailure {
  const told = new Map<string, { message: string; atMs: number }>();
  return (object, reason, error) => {
    if (!(error instanceof InterpretError)) return;
    const key = `${object.metadata.uid ?? object.metadata.name}/${reason}`;
    const last = told.get(key);
    const nowMs = clock.now();
    if (last?.message === error.message && nowMs - last.atMs < TELL_AGAIN_MS) return;
    told.delete(key);
    told.set(key, { message: error.message, atMs: nowMs });
    if (told.size > MAX_REMEMBERED) told.delete(told.keys().next().value ?? "");
    events.record(hub, object, { type: "Warning", reason, message: error.message });
  };
}
