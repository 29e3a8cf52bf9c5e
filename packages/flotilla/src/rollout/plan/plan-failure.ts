/** Decides whether a release has failed, and why. Pure. */
import { scaledValue } from "@flotilla/apimachinery";
import { durationMs, renderDuration } from "./durations.ts";
import type { Entry, Release } from "./release.ts";

export interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly wave?: string | undefined;
  readonly cluster?: string | undefined;
  /** Unset: what the strategy says. */
  readonly action?: "Pause" | "Rollback";
}

/** The reason of a release that had not failed when a person aborted it. */
export const ABORTED = "Aborted";

/** The cause, and whether a person aborted the release then. */
export const failureText = ({
  message,
  abortedAt,
}: {
  readonly message: string;
  readonly abortedAt?: string;
}): string => (abortedAt === undefined ? message : `${message}; aborted at ${abortedAt}`);

export function planFailure(release: Release): Failure | undefined {
  const { entries, members, self, strategy, status, input, now } = release;
  const { failure } = strategy;
  const deadlineMs = durationMs(failure.progressDeadline);
  const graceMs = durationMs(failure.unhealthyFor);
  const tolerated = scaledValue(
    failure.maxUnhealthy,
    entries.reduce((sum, { replicas }) => sum + replicas, 0),
    {
      roundUp: false,
    },
  );
  const own = entries.filter(({ revision }) => revision === self);

  let broken = 0;
  let unhealthy = 0;
  let first: string | undefined;
  const says: string[] = [];
  for (const entry of own) {
    const member = members.get(entry.name);
    if (member?.trouble && member.isReachable && member.isAcknowledged) {
      broken += member.trouble.pods;
      first ??= entry.name;
      says.push(`${entry.name}: ${member.trouble.message}`);
      continue;
    }
    if (entry.state !== "Unhealthy" || entry.unhealthySince === undefined) continue;
    const leftMs = Date.parse(entry.unhealthySince) + graceMs - input.nowMs;
    if (leftMs > 0) {
      release.wake(leftMs);
      continue;
    }
    const missing = Math.max(0, (entry.target ?? entry.replicas) - entry.ready);
    unhealthy += missing;
    first ??= entry.name;
    says.push(`${entry.name}: ${missing} of ${entry.updated} updated pods are not available`);
  }
  if (broken + unhealthy > tolerated)
    return {
      reason: broken > 0 ? "PodsFailing" : "PodsUnhealthy",
      message:
        `${broken + unhealthy} updated ${broken + unhealthy === 1 ? "pod is" : "pods are"} unhealthy, ` +
        `${tolerated} ${tolerated === 1 ? "is" : "are"} tolerated: ${says.slice(0, 3).join("; ")}`,
      wave: entries.find(({ name }) => name === first)?.wave,
      cluster: first,
    };

  const waveIndex = status.waveIndex ?? 0;
  const membersUntil = (count: number): ReadonlySet<string> =>
    new Set((status.plan ?? []).slice(0, count).flatMap(({ clusters }) => clusters));
  // A wave whose gates are closed has not started: its members are not late, and one that is away is only reported.
  const started = membersUntil(status.waveState === "Before" ? waveIndex : waveIndex + 1);
  for (const entry of entries) {
    if (
      entry.state === "Unreachable" &&
      entry.unreachableSince !== undefined &&
      (entry.revision === self || started.has(entry.name))
    ) {
      if (failure.onUnreachable !== "Fail") {
        if (failure.onUnreachable === "Skip") skip(release, entry, deadlineMs);
        continue;
      }
      const leftMs = lateSince(release, entry) + deadlineMs - input.nowMs;
      if (leftMs <= 0)
        return {
          reason: "MemberUnreachable",
          message: `${entry.name} has not been reachable for ${renderDuration(deadlineMs)}`,
          wave: entry.wave ?? (status.plan ?? []).find(({ clusters }) => clusters.includes(entry.name))?.name,
          cluster: entry.name,
        };
      release.wake(leftMs);
      continue;
    }
    const isBehind =
      entry.state === "Waiting" && started.has(entry.name) && members.get(entry.name)?.isAcknowledged === false;
    if (!isBehind && (entry.revision !== self || entry.state !== "Updating")) continue;
    const since = Math.max(Date.parse(entry.progressTime ?? "") || 0, Date.parse(status.waveStartedAt ?? now));
    const leftMs = (isBehind ? since : Date.parse(entry.progressTime ?? now)) + deadlineMs - input.nowMs;
    if (leftMs <= 0)
      return {
        reason: "ProgressDeadlineExceeded",
        message:
          `${entry.name} has made no progress for ${renderDuration(deadlineMs)}: ${entry.ready} of ` +
          `${entry.target ?? entry.replicas} pods are updated and ` +
          `available${entry.message === undefined ? "" : ` (${entry.message})`}`,
        wave: entry.wave,
        cluster: entry.name,
      };
    release.wake(leftMs);
  }
  return undefined;
}

/** The wave of a member that it has not reached may have opened after the member was lost: until then nothing was asked of it. */
function lateSince({ self, status, now }: Release, { revision, unreachableSince }: Entry): number {
  const lostMs = Date.parse(unreachableSince ?? now);
  return revision === self ? lostMs : Math.max(lostMs, Date.parse(status.waveStartedAt ?? "") || 0);
}

/** A member that does not answer for too long is left out of the waves; it follows when it is back. */
function skip(release: Release, entry: Entry, deadlineMs: number): void {
  const leftMs = lateSince(release, entry) + deadlineMs - release.input.nowMs;
  if (leftMs > 0) return release.wake(leftMs);
  entry.state = "Skipped";
  release.events.push({
    type: "Warning",
    reason: "MemberSkipped",
    message: `${entry.name} cannot be reached and is skipped; it follows when it is back`,
    clusters: [entry.name],
  });
}
