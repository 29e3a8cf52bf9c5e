/**
 * A rule failure is reported as an event on the object that it failed for, where its owner sees it, and in the log; the
 * stage retries with backoff. The recovery is reported once, and only after a reported failure, also one that an earlier
 * process reported.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { Client } from "@flotilla/client";
import { createFailureReports } from "@flotilla/controller-runtime";
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

/** The name under which rules are logged; the hub shows these lines as the log of karmada-webhook. */
export const INTERPRETER = "interpreter";

/** The source of the events. */
export const INTERPRETER_EVENTS = "flotilla-interpreter";

export interface RuleFailureDependencies {
  hub: string;
  client: Pick<Client, "list">;
  /** With the source `INTERPRETER_EVENTS`. */
  events: EventRecorder;
  clock: Clock;
  log: Log;
}

export function createReportRuleFailure({
  hub,
  client,
  events,
  clock,
  log,
}: RuleFailureDependencies): ReportRuleFailure {
  const ruleLog = log.with({ controller: INTERPRETER });
  const reports = createFailureReports({
    cluster: hub,
    component: INTERPRETER_EVENTS,
    client,
    events,
    endings: ENDINGS,
    clock,
    log: ruleLog,
  });
  const keyOf = ({ metadata: { namespace, name } }: Regarding): string =>
    `${hub}/${namespace ? `${namespace}/` : ""}${name}`;

  function report(object: Regarding, reason: RuleFailure, error: unknown): void {
    if (!(error instanceof InterpretError) || !reports.failed(object, reason, error.message)) return;
    ruleLog.warn("interpreter rule failed", {
      key: keyOf(object),
      kind: object.kind,
      reason,
      error: error.message,
    });
  }

  function over(object: Regarding, reason: RuleFailure): void {
    if (reports.over(object, reason))
      ruleLog.info("interpreter rule succeeded again", { key: keyOf(object), kind: object.kind, reason });
  }

  return Object.assign(report, { over });
}
