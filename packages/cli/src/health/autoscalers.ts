/**
 * What FederatedHPAs and CronFederatedHPAs report: why they do not scale, and what they did last. Pure.
 */
import { findCondition, formatAge } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { CronFederatedHpa, FederatedHpa } from "@flotilla/karmada";

type Autoscaler = DeepReadonly<FederatedHpa>;
type Cron = DeepReadonly<CronFederatedHpa>;

export interface AutoscalerReport {
  problem: "autoscaler failing" | "autoscaler at its maximum";
  what: string;
  try: string;
}

/** Metrics of new pods, and a target that is applied together with its autoscaler, take less. */
const START_MS = 60_000;
/** A peak may be that long; a load that stays needs a larger limit or fewer requests. */
const AT_MAXIMUM_MS = 15 * 60_000;
/** A target with no replicas is not scaled on purpose. */
const INTENDED: ReadonlySet<string> = new Set(["ScalingDisabled"]);
/** Of a message, what the reason before it says. */
const UNABLE =
  "HPA was unable to compute the replica count|\\w+ controller was unable to (?:get the target's current|update the target) scale";
const KNOWN = new RegExp(
  `^the (?:${UNABLE}): (?:failed to get \\w+ (?:resource )?(?:utilization|metric value|usage): )?`,
);
/** In the message of a condition: members that were not read. */
const NOT_READ = "; not read: ";

export const targetOfAutoscaler = ({ spec: { scaleTargetRef } }: Pick<Autoscaler, "spec"> | Cron): string =>
  `${scaleTargetRef.kind} ${scaleTargetRef.name}`;

export function reportAutoscaler(autoscaler: Autoscaler, nowMs: number, graceMs = START_MS): AutoscalerReport[] {
  const { metadata, spec, status } = autoscaler;
  const target = targetOfAutoscaler(autoscaler);
  if (metadata.deletionTimestamp !== undefined) return [];
  const since = (time: string | undefined): number => nowMs - Date.parse(time ?? metadata.creationTimestamp ?? "");
  const conditions = status?.conditions;
  if (!conditions?.length)
    return since(undefined) > graceMs
      ? [
          {
            problem: "autoscaler failing",
            what: `it has not been evaluated for ${formatAge(since(undefined))}, so ${target} is not scaled`,
            try: "check that the hub's controllers run",
          },
        ]
      : [];
  const [able, active, limited] = ["AbleToScale", "ScalingActive", "ScalingLimited"].map((type) =>
    findCondition(conditions, type),
  );
  // Without its target nothing else is known.
  const failed = [able, active].find(
    (condition) => condition?.status === "False" && !INTENDED.has(condition.reason ?? ""),
  );
  if (failed)
    return since(failed.lastTransitionTime) > graceMs
      ? [
          {
            problem: "autoscaler failing",
            what:
              `${target} has not been scaled for ${formatAge(since(failed.lastTransitionTime))}: ` +
              `${failed.reason}: ${(failed.message ?? "").replace(KNOWN, "")}`,
            try:
              FIXES[failed.reason ?? ""] ??
              "the metrics of its spec must exist on the members; 'flotilla top pods' shows usage",
          },
        ]
      : [];
  const atMaximum = limited?.status === "True" && limited.reason === "TooManyReplicas" ? limited : undefined;
  if (!atMaximum || since(atMaximum.lastTransitionTime) <= AT_MAXIMUM_MS) return [];
  return [
    {
      problem: "autoscaler at its maximum",
      what:
        `${target} has been at its maximum of ${spec.maxReplicas} replicas for ` +
        `${formatAge(since(atMaximum.lastTransitionTime))} and needs ` +
        `more${metricTexts(autoscaler).map((text) => `: ${text}`)[0] ?? ""}`,
      try: "raise spec.maxReplicas, or find out why the load stays",
    },
  ];
}

const FIXES: Readonly<Record<string, string>> = {
  FailedGetScale: "correct spec.scaleTargetRef: the target must exist in its namespace and have a scale",
  FailedGetBindings: "apply a PropagationPolicy that selects the target",
  FailedGetTargetClusters: "'flotilla why' of the target shows why no member runs it",
  MissingMetrics: "bring the members back, or set the annotation flotilla.dev/missing-metrics to conservative",
};

/** The members that the last evaluation could not read; undefined if it read all. */
export function unreadMembers({ status }: Autoscaler): string | undefined {
  const active = findCondition(status?.conditions, "ScalingActive");
  return active?.status === "True" ? active.message?.split(NOT_READ)[1] : undefined;
}

/** `cpu is at 180 % of the requests, 50 % is the target` */
function metricTexts({ spec, status }: Autoscaler): string[] {
  return (status?.currentMetrics ?? []).flatMap((current, index) => {
    const wanted = spec.metrics?.[index];
    const name = current.resource?.name;
    if (name === undefined) return [];
    const used = current.resource?.current.averageUtilization;
    const goal = wanted?.resource?.target.averageUtilization;
    if (used !== undefined && goal !== undefined)
      return [`${name} is at ${used} % of the requests, ${goal} % is the target`];
    const average = current.resource?.current.averageValue;
    const value = wanted?.resource?.target.averageValue;
    return average === undefined
      ? []
      : [`${name} is ${average} for each pod${value === undefined ? "" : `, ${value} is the target`}`];
  });
}

/** An event of an autoscaler. */
interface Rescale {
  message: string;
  atMs: number;
}
const RESCALE = /^New size: (\d+); reason: (.*)$/s;

/** `FederatedHPA web: 6 replicas, between 3 and 30; scaled from 3 to 6 2m ago: cpu … above target` */
export function describeAutoscaler(autoscaler: Autoscaler, rescales: readonly Rescale[], nowMs: number): string[] {
  const { metadata, spec, status } = autoscaler;
  const found = rescales
    .flatMap(({ message, atMs }) => {
      const [, size, reason] = RESCALE.exec(message) ?? [];
      return size === undefined ? [] : [{ size, reason: reason ?? "", atMs }];
    })
    .toSorted((a, b) => b.atMs - a.atMs);
  const [last, before] = found;
  const lastMs = Date.parse(status?.lastScaleTime ?? "") || last?.atMs;
  const did =
    lastMs === undefined
      ? "never scaled"
      : `scaled ${before ? `from ${before.size} ` : ""}to ${last?.size ?? status?.desiredReplicas ?? "?"} ` +
        `replicas ${formatAge(nowMs - lastMs)} ago${last ? `: ${last.reason}` : ""}`;
  const unread = unreadMembers(autoscaler);
  return [
    `FederatedHPA ${metadata.name}: ${status?.currentReplicas ?? "?"} replicas, between ${spec.minReplicas ?? 1} and ${spec.maxReplicas}; ${did}`,
    ...metricTexts(autoscaler).map((text) => `  ${text}`),
    ...(unread === undefined ? [] : [`  not read: ${unread}`]),
  ];
}

type History = NonNullable<NonNullable<Cron["status"]>["executionHistories"]>[number];

/** The last run of a rule; undefined if it never ran. */
function lastRun({ successfulExecutions = [], failedExecutions = [] }: History) {
  const [done, failed] = [successfulExecutions[0], failedExecutions[0]];
  const msOf = (run: { executionTime: string } | undefined): number => Date.parse(run?.executionTime ?? "") || 0;
  if (failed && msOf(failed) > msOf(done)) return { atMs: msOf(failed), failure: failed.message };
  return done ? { atMs: msOf(done), done } : undefined;
}

export function reportCron(cron: Cron, nowMs: number): AutoscalerReport[] {
  if (cron.metadata.deletionTimestamp !== undefined) return [];
  const rules = new Map(cron.spec.rules.map((rule) => [rule.name, rule]));
  return (cron.status?.executionHistories ?? []).flatMap((history): AutoscalerReport[] => {
    const last = lastRun(history);
    if (last?.failure === undefined || rules.get(history.ruleName)?.suspend) return [];
    const next = history.nextExecutionTime ? `; it runs again at ${history.nextExecutionTime}` : "";
    return [
      {
        problem: "autoscaler failing",
        what: `rule ${history.ruleName} failed to scale ${targetOfAutoscaler(cron)} ${formatAge(nowMs - last.atMs)} ago: ${last.failure}`,
        try: `correct spec.scaleTargetRef or the rule${next}`,
      },
    ];
  });
}

/** One line for each rule. */
export function describeCron(cron: Cron, nowMs: number): string[] {
  const histories = new Map(cron.status?.executionHistories?.map((history) => [history.ruleName, history]));
  return cron.spec.rules.map((rule) => {
    const history = histories.get(rule.name);
    const last = history && lastRun(history);
    const sets = [
      rule.targetReplicas === undefined ? undefined : `${rule.targetReplicas} replicas`,
      rule.targetMinReplicas === undefined ? undefined : `at least ${rule.targetMinReplicas}`,
      rule.targetMaxReplicas === undefined ? undefined : `at most ${rule.targetMaxReplicas}`,
    ].filter((text) => text !== undefined);
    const ran = last
      ? `${last.failure === undefined ? "ran" : "failed"} ${formatAge(nowMs - last.atMs)} ago${last.failure === undefined ? "" : `: ${last.failure}`}`
      : "has not run yet";
    const next = rule.suspend
      ? "suspended"
      : history?.nextExecutionTime
        ? `runs at ${history.nextExecutionTime}`
        : "never runs again";
    return `CronFederatedHPA ${cron.metadata.name}, rule ${rule.name}: sets ${sets.join(", ")}; ${ran}; ${next}`;
  });
}
