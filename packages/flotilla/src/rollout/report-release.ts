/**
 * What a person must know of a release: that it failed, or that it waits for a decision or for something that does not happen
 * by itself. A release that makes progress, soaks, or waits for a window that will open has no report. Pure.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout, GateStatus, RolloutCluster } from "./kinds/fleet-rollout.ts";
import { ABORTED } from "./plan/plan-failure.ts";
import { durationMs, renderDuration } from "./plan/durations.ts";
import { isReturning } from "./plan/release.ts";
import { approvalsOf, closedGates, NEVER_OPENS } from "./plan/plan-gates.ts";

type Rollout = DeepReadonly<FleetRollout>;

export interface ReleaseReport {
  /** Something went wrong, nothing moves, or a person has to decide. */
  state: "failed" | "aborted" | "stuck" | "waiting";
  what: string;
  try: string;
}

/** The reason of an event on a template whose change the hub could not record. */
export const RECORD_FAILED = "RecordReleaseFailed";

/** The releases of a hub that have not ended well, for a list: the many that succeeded are left out. */
export const UNSETTLED_RELEASES = "status.phase!=Succeeded,status.phase!=Superseded";

/** What begins the message of a failure; the pods and their reason follow. */
const COUNTS = /^\d+ updated pods? (?:is|are) unhealthy, \d+ (?:is|are) tolerated: /;
/** A new release is planned within a second. */
const START_MS = 60_000;
/** A member that is away for less may only restart. */
const AWAY_MS = 60_000;
/** What ends what a release waits for while members of its wave are away. */
const AWAY = " to be reachable";

/** A release that has failed and ended; whether it still matters depends on what the template is now. */
export const hasEndedBadly = ({ status }: Rollout): boolean =>
  status?.phase === "RolledBack" || status?.phase === "Failed";

export function reportRelease(rollout: Rollout, nowMs: number): ReleaseReport | undefined {
  const { metadata, spec, status } = rollout;
  const { name } = metadata;
  const command = (verb: string, flags = ""): string =>
    `'flotilla rollout ${verb} ${spec.target.kind.toLowerCase()}/${spec.target.name}${metadata.namespace ? ` -n ${metadata.namespace}` : ""}${flags}'`;
  const before = spec.previous ?? "the revision before";
  const cause = status?.failure?.message.replace(COUNTS, "") ?? "the cause is not recorded";
  const failedIn = `failed${status?.failure?.wave === undefined ? "" : ` in wave ${status.failure.wave}`}`;
  const isAborted = status?.failure?.reason === ABORTED;
  const ended = isAborted
    ? ({ state: "aborted", how: "was aborted" } as const)
    : ({
        state: "failed",
        how: `${failedIn}${status?.failure?.abortedAt === undefined ? "" : ", was aborted"}`,
      } as const);
  const retry = `correct the template, or ${command("retry")} to start it again`;
  switch (status?.phase) {
    case undefined:
      return nowMs - Date.parse(metadata.creationTimestamp ?? "") > START_MS
        ? {
            state: "stuck",
            what: `release ${name} has not started: the hub has not planned it`,
            try: "check that the hub's controllers run, and that a policy still selects the template",
          }
        : undefined;
    case "Paused":
      return status.failure
        ? {
            state: "failed",
            what: `release ${name} ${failedIn} and is paused, ${podsOf(rollout)}: ${cause}`,
            try: `${command("retry")} continues it, ${command("abort")} returns the waves so far to ${before}`,
          }
        : {
            state: "waiting",
            what: `release ${name} is paused in ${waveOf(rollout)}, ${podsOf(rollout)}`,
            try: `${command("resume")} continues it`,
          };
    case "RollingBack":
      return {
        state: ended.state,
        what: `release ${name} ${ended.how} and returns to ${before}, ${podsOf(rollout)}${waitText(rollout)}${isAborted ? "" : `: ${cause}`}`,
        try: spec.paused ? `its return is paused: ${command("resume")} continues it` : retry,
      };
    case "RolledBack":
    case "Failed": {
      const left = (status.clusters ?? []).filter(isReturning).map((entry) => entry.name);
      const except = left.length === 0 ? "" : `, except on ${left.join(", ")}`;
      return {
        state: ended.state,
        what: `release ${name} ${ended.how} and was rolled back to ${before}${except}${isAborted ? "" : `: ${cause}`}`,
        try: `the members do not run the template of the hub: ${retry}`,
      };
    }
    case "Progressing":
      return reportProgress(rollout, nowMs, command);
    default:
      return undefined;
  }
}

/** A gate that does not open, and why: `metric after wave 1: 3, too many errors (4 times)`. */
function describeGate(gates: ReturnType<typeof closedGates>[number]): string {
  const { type, when, wave, message, value, failures = 0 } = gates;
  const reason = [value, message].filter((text) => text !== undefined).join(": ");
  return `${type} ${when.toLowerCase()} ${wave}: ${reason}${failures > 1 ? ` (${failures} times)` : ""}`;
}

function approvalOf({ spec }: Rollout, { wave, when }: DeepReadonly<GateStatus>): string {
  const waveSpec = spec.strategy?.waves.find(({ name }) => name === wave);
  return (waveSpec && approvalsOf(waveSpec)[when === "After" ? "after" : "before"]) ?? wave;
}

/** A release in progress that will not continue by itself. */
function reportProgress(
  rollout: Rollout,
  nowMs: number,
  command: (verb: string, flags?: string) => string,
): ReleaseReport | undefined {
  const { metadata, spec, status = { updated: 0, ready: 0, total: 0, unavailable: 0 } } = rollout;
  const where = `release ${metadata.name} in ${waveOf(rollout)}, ${podsOf(rollout)}`;
  const gates = closedGates(status);
  const failing = gates.filter(({ failures = 0, message }) => failures > 0 || message === NEVER_OPENS);
  const promote = `mend what the gate asks, or open it with ${command("promote")}`;
  if (failing.length > 0)
    return {
      state: "stuck",
      what: `${where}, waits for a gate that does not open: ${failing.map(describeGate).join("; ")}`,
      try: promote,
    };
  const approval = gates.find(({ type }) => type === "approval");
  if (approval)
    return {
      state: "waiting",
      what: `${where}, waits for approval${gates.length > 1 ? ` (${status.waitingFor ?? ""})` : ""}`,
      try:
        `${command("approve", ` --wave ${approvalOf(rollout, approval)}`)} opens wave ` +
        `${approval.wave}${approval.when === "After" ? "'s end" : ""}` +
        (approval.message?.startsWith("wave ") ? "" : `; check before: ${approval.message ?? ""}`),
    };
  // Time opens them.
  if (gates.length > 0 && gates.every(({ type }) => type === "soak" || type === "window")) return undefined;
  const stoodMs = nowMs - lastProgressMs(rollout);
  const deadlineMs = durationMs(spec.strategy?.failure.progressDeadline ?? "10m");
  const isUpdating = status.clusters?.some(({ state }) => state === "Updating") === true;
  const isAway = gates.length === 0 && !isUpdating && status.waitingFor?.endsWith(AWAY) === true;
  if (stoodMs <= (isAway ? Math.min(AWAY_MS, deadlineMs) : deadlineMs)) return undefined;
  if (isAway)
    return {
      state: "stuck",
      what: `${where}, has stood still for ${renderDuration(stoodMs)}: waits for ${status.waitingFor ?? ""}`,
      try:
        "bring the member back; until then its pods count as unavailable in the release's budget, if it has one; " +
        `${command("status")} shows every member; ${command("abort")} returns the waves so far`,
    };
  return {
    state: "stuck",
    what: `${where}, has made no progress for ${renderDuration(stoodMs)}: waits for ${status.waitingFor ?? "members"}`,
    try:
      gates.length > 0
        ? promote
        : status.waitingFor?.includes("budget")
          ? "raise the budget, or bring the unavailable pods back; pods of members that cannot be observed count as unavailable"
          : `${command("status")} shows every member; ${command("abort")} returns the waves so far`,
  };
}

function lastProgressMs({ metadata, status }: Rollout): number {
  const times = [
    metadata.creationTimestamp,
    status?.startedAt,
    status?.waveStartedAt,
    status?.waveDoneAt,
    ...(status?.gates ?? []).map(({ openedAt }) => openedAt),
    ...(status?.clusters ?? []).map(({ progressTime }) => progressTime),
  ];
  return Math.max(...times.map((time) => Date.parse(time ?? "")).filter(Number.isFinite), 0);
}

const podsOf = ({ status }: Rollout): string => `${status?.updated ?? 0} of ${status?.total ?? 0} pods updated`;

/** `wave half (2 of 3)` */
function waveOf({ status }: Rollout): string {
  if (status?.wave === undefined) return "its first wave";
  const count = status.plan?.length ?? 0;
  return `wave ${status.wave}${count > 1 ? ` (${(status.waveIndex ?? 0) + 1} of ${count})` : ""}`;
}

const waitText = ({ status }: Rollout): string =>
  status?.waitingFor === undefined ? "" : `, waits for ${status.waitingFor}`;

/**
 * Why a member does not have the revision of the release, or only some of its pods; undefined if all may.
 * `it keeps web-1: its wave half is not open, and waits for approval of half`
 */
export function whyBehind(rollout: Rollout, entry: DeepReadonly<RolloutCluster>): string | undefined {
  const { metadata, status } = rollout;
  const ofPods =
    entry.revision === metadata.name && entry.target !== undefined && entry.target < entry.replicas
      ? `${entry.target} of its ${entry.replicas} pods may have it`
      : undefined;
  if (entry.revision === metadata.name && ofPods === undefined) return undefined;
  if (status?.phase === "RolledBack" || status?.phase === "RollingBack" || status?.phase === "Failed")
    return (
      `the release ${status.failure?.reason === ABORTED ? "was aborted" : "failed"}, and the member ` +
      `${isReturning(entry) ? "returns to" : "has"} ${entry.revision}`
    );
  if (status?.phase === "Succeeded")
    return entry.state === "Skipped" || entry.state === "Unreachable"
      ? "it could not be reached during the release, and follows when it is back"
      : "it follows within the budget";
  const has = ofPods ?? `it keeps ${entry.revision}`;
  if (status?.phase === "Paused") return `${has}: the release is paused`;
  if (entry.state === "Unreachable" || entry.state === "Skipped") return `${has}: it cannot be reached`;
  const at = status?.waveIndex ?? 0;
  const next = status?.plan?.find(
    ({ clusters }, index) =>
      clusters.includes(entry.name) && (index > at || (index === at && status.waveState === "Before")),
  );
  const waits = `waits for ${status?.waitingFor ?? "members"}`;
  if (!next) return `${has}: its wave is open, and ${waits}`;
  return next.name === status?.wave
    ? `${has}: its wave ${next.name} is not open, and ${waits}`
    : `${has}: its wave ${next.name} is not open; wave ${status?.wave ?? ""} ${waits}`;
}
