/** Judges an attack: its own verdict, and what other clients and the hub's memory went through meanwhile. Pure. */
import type { Attack, Verdict } from "./attack.ts";

export interface Latency {
  longestReadMs: number;
  longestWriteMs: number;
  /** How late the probe client's own process was scheduled at most: the machine was that busy. */
  ownDelayMs: number;
  /** Answered requests. */
  reads: number;
  writes: number;
  /** Requests that failed, and the first failure. */
  failed: number;
  firstFailure?: string;
}

export interface Observation {
  isHubAlive: boolean;
  /** The probe client before the attack, when nothing else happened. */
  quiet: Latency;
  during: Latency;
  /** The hub's resident memory; unset where it cannot be measured. */
  idleMiB?: number;
  peakMiB?: number;
  /** After the attack, once it was back or a minute had passed; unset if it was not waited for. */
  laterMiB?: number;
  laterSeconds?: number;
}

export interface Judgement {
  name: string;
  claim: string;
  outcome: Verdict["outcome"];
  tried: string;
  seen: string;
  /** Why the attack did not hold, apart from what its own verdict says. */
  problems: readonly string[];
  observation: Observation;
}

/** How long a probe client may wait on a quiet machine with two cores. */
const PROBE_LIMIT_MS = 500;
/** A busy machine delays a probe client several times as long under load as without. */
const QUIET_FACTOR = 4;
/** How much more memory an attack may take: the largest allowed bodies, answers and lists at once. */
const MAX_GROWTH_MIB = 1_024;
/** How much of it may remain after a minute: the caches of V8 and of the allocator. */
const MAX_REMAINING_MIB = 384;

/** The probe client's limit on a machine where it waited this long without an attack, and was this late by itself. */
export function probeLimitMs({ longestReadMs, longestWriteMs }: Latency, ownDelayMs = 0): number {
  return Math.max(PROBE_LIMIT_MS, QUIET_FACTOR * Math.max(longestReadMs, longestWriteMs, ownDelayMs));
}

export function isMemoryBack(idleMiB = 0, laterMiB = 0): boolean {
  return laterMiB - idleMiB <= MAX_REMAINING_MIB;
}

/** Something did not hold, and otherwise something was not tried: an attack that was not tried shows nothing. */
export function exitCodeOf(judgements: readonly Pick<Judgement, "outcome">[]): 0 | 1 | 3 {
  if (judgements.some(({ outcome }) => outcome === "broken")) return 1;
  return judgements.some(({ outcome }) => outcome === "not tried") ? 3 : 0;
}

export function judge({ name, claim, stopsHub }: Attack, verdict: Verdict, observation: Observation): Judgement {
  const problems = stopsHub ? [] : problemsOf(observation);
  // What other clients went through counts also when the attack itself could not be finished.
  const outcome = problems.length > 0 ? "broken" : verdict.outcome;
  return { name, claim, outcome, tried: verdict.tried, seen: verdict.seen, problems, observation };
}

/** Whether a probe client waited too long and nothing else went wrong: a busy machine can cause that as well. */
export function isOnlySlow({ outcome, problems, observation: { isHubAlive, during } }: Judgement): boolean {
  return outcome === "broken" && problems.length > 0 && isHubAlive && during.failed === 0;
}

function problemsOf(observation: Observation): string[] {
  const { isHubAlive, quiet, during, idleMiB = 0, peakMiB, laterMiB, laterSeconds } = observation;
  if (!isHubAlive) return ["the hub's process has ended"];
  const limit = probeLimitMs(quiet, during.ownDelayMs);
  const problems: string[] = [];
  if (during.reads === 0 && during.writes === 0) problems.push("the probe client was never answered");
  if (during.failed > 0)
    problems.push(`${during.failed} requests of the probe client failed: ${during.firstFailure ?? "unknown"}`);
  if (during.longestReadMs > limit) problems.push(`a read took ${ms(during.longestReadMs)}, limit ${ms(limit)}`);
  if (during.longestWriteMs > limit) problems.push(`a write took ${ms(during.longestWriteMs)}, limit ${ms(limit)}`);
  if (peakMiB !== undefined && peakMiB - idleMiB > MAX_GROWTH_MIB)
    problems.push(`memory grew from ${Math.round(idleMiB)} to ${Math.round(peakMiB)} MiB`);
  if (laterMiB !== undefined && !isMemoryBack(idleMiB, laterMiB))
    problems.push(`${Math.round(laterMiB)} MiB ${laterSeconds ?? 60} s later, ${Math.round(idleMiB)} MiB before`);
  return problems;
}

const ms = (value: number): string => `${Math.round(value)} ms`;
