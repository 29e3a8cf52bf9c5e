/**
 * A rule failure is reported as an event on the object that it failed for, where its owner sees it, and in the log; the
 * stage retries with backoff. The recovery is reported once, and only after a reported failure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { EventRecorder } from "@flotilla/controller-runtime";

type Regarding = DeepReadonly<KubernetesObject>;

/** Karmada's reasons, with Karmada's messages on recovery. DivideFailed is ours. */
const ENDINGS = {
  AggregateStatusFailed: "Update Resource with AggregatedStatus successfully.",
  DivideFailed: "Divide the resource template succeed.",
  GetComponentsFailed: "Get components of resource template successfully.",
  GetDependenciesFailed: "Get dependencies succeed.",
  GetReplicasFailed: "Get replicas of resource template successfully.",
  InterpretHealthFailed: "Interpret health of the member's object succeed.",
  ReflectStatusFailed: "Reflect status of the member's object succeed.",
} as const;

export type RuleFailure = keyof typeof ENDINGS;

export interface ReportRuleFailure {
  (object: Regarding, reason: RuleFailure, error: unknown): void;
  /** The rule works for the object. Costs nothing while no rule fails. */
  over(object: Regarding, reason: RuleFailure): void;
}

/**
 * The same failure is reported again after this long: events about one object are limited, and a new failure must find
 * room among them.
 */
const REPORT_AGAIN_MS = 5 * 60_000;
const MAX_REMEMBERED = 10_000;

/** The name under which rules are logged; the hub shows these lines as the log of karmada-webhook. */
export const INTERPRETER = "interpreter";

export interface RuleFailureDependencies {
  hub: string;
  events: EventRecorder;
  clock: Clock;
  log: Log;
}

export function createReportRuleFailure({ hub, events, clock, log }: RuleFailureDependencies): ReportRuleFailure {
  const ruleLog = log.with({ controller: INTERPRETER });
  const reported = new Map<string, { message: string; atMs: number }>();
  const keyOf = ({ metadata: { namespace, name } }: Regarding): string =>
    `${hub}/${namespace ? `${namespace}/` : ""}${name}`;
  const idOf = ({ metadata }: Regarding, reason: RuleFailure): string => `${metadata.uid ?? metadata.name}/${reason}`;

  function report(object: Regarding, reason: RuleFailure, error: unknown): void {
    if (!(error instanceof InterpretError)) return;
    const key = idOf(object, reason);
    const last = reported.get(key);
    const nowMs = clock.now();
    if (last?.message === error.message && nowMs - last.atMs < REPORT_AGAIN_MS) return;
    reported.delete(key);
    reported.set(key, { message: error.message, atMs: nowMs });
    if (reported.size > MAX_REMEMBERED) reported.delete(reported.keys().next().value ?? "");
    events.record(hub, object, { type: "Warning", reason, message: error.message });
    ruleLog.warn("interpreter rule failed", {
      key: keyOf(object),
      kind: object.kind,
      reason,
      error: error.message,
    });
  }

  function over(object: Regarding, reason: RuleFailure): void {
    if (reported.size === 0 || !reported.delete(idOf(object, reason))) return;
    ruleLog.info("interpreter rule succeeded again", { key: keyOf(object), kind: object.kind, reason });
    events.record(hub, object, {
      type: "Normal",
      reason: reason.replace("Failed", "Succeed"),
      message: ENDINGS[reason],
    });
  }

  return Object.assign(report, { over });
}
