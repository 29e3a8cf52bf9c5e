/** Judges a stress run: delivery to the other members beside the quiet phase, thefts, crashes, memory. Pure. */
import { isMemoryBack } from "./judge.ts";
import type { ProcessorTime } from "./processor.ts";

export interface Delivery {
  changes: number;
  p50Ms: number;
  p99Ms: number;
  longestMs: number;
  lost: number;
  failures: readonly string[];
}

export interface StressObservation {
  minutes: number;
  quiet: Delivery;
  stress: Delivery;
  isHubAlive: boolean;
  /** What hostile peers got that they must not have. */
  thefts: readonly string[];
  /** Attacks that did not hold. */
  broken: readonly string[];
  /** How often each kind of hostile party acted. */
  visits: Readonly<Record<string, number>>;
  idleMiB?: number;
  peakMiB?: number;
  laterMiB?: number;
  laterSeconds?: number;
  /** Of the hub's main thread while it was attacked. */
  processor?: ProcessorTime | undefined;
  /** What the later memory consists of, as far as the hub reports it. */
  laterHeap?: { usedMiB: number; totalMiB: number; externalMiB: number } | undefined;
}

/** How much longer deliveries may take than in the quiet phase of the same run. */
const MAX_SLOWDOWN = 2;
/** As for one attack, and the same again: many attacks run at the same time. */
const MAX_GROWTH_MIB = 1_024;

export function deliveryOf(deliveryMs: readonly number[], lost: number, failures: readonly string[]): Delivery {
  const sorted = [...deliveryMs].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { changes: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: sorted.at(-1) ?? 0, lost, failures };
}

export function stressProblems(observation: StressObservation): string[] {
  const { quiet, stress, isHubAlive, thefts, broken, visits, idleMiB = 0, peakMiB, laterMiB } = observation;
  const problems: string[] = [];
  if (!isHubAlive) problems.push("the hub's process has ended");
  problems.push(...thefts.map((theft) => `stolen: ${theft}`), ...broken);
  if (quiet.changes === 0 || stress.changes === 0) problems.push("no change was delivered");
  if (stress.p99Ms > MAX_SLOWDOWN * quiet.p99Ms)
    problems.push(
      `p99 of deliveries ${ms(stress.p99Ms)}, more than ${MAX_SLOWDOWN} times ${ms(quiet.p99Ms)} of the quiet phase`,
    );
  if (stress.lost > 0) problems.push(`${stress.lost} changes did not reach a member in time`);
  if (stress.failures.length > 0)
    problems.push(`${stress.failures.length} changes were rejected: ${stress.failures[0] ?? ""}`);
  for (const [party, count] of Object.entries(visits)) if (count === 0) problems.push(`${party} never acted`);
  if (peakMiB !== undefined && peakMiB - idleMiB > MAX_GROWTH_MIB)
    problems.push(`memory grew from ${Math.round(idleMiB)} to ${Math.round(peakMiB)} MiB`);
  if (laterMiB !== undefined && !isMemoryBack(idleMiB, laterMiB))
    problems.push(`${Math.round(laterMiB)} MiB a minute later, ${Math.round(idleMiB)} MiB before`);
  return problems;
}

export function renderStress(observation: StressObservation, problems: readonly string[]): string {
  const { minutes, quiet, stress, visits, idleMiB, peakMiB, laterMiB, laterSeconds, laterHeap, processor } =
    observation;
  const delivery = (phase: string, delivery: Delivery): string => {
    const { changes, p50Ms, p99Ms, longestMs, lost } = delivery;
    return `           ${phase}  ${changes} deliveries, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, longest ${ms(longestMs)}, ${lost} lost`;
  };
  return [
    `${problems.length === 0 ? "held      " : "BROKEN    "} stress of ${minutes} minutes: hostile members, agents and tenants together under load`,
    `           tried      ${Object.entries(visits)
      .map(([party, count]) => `${party} ${count}`)
      .join(", ")}`,
    delivery("quiet    ", quiet),
    delivery("stress    ", stress),
    ...(processor
      ? [
          `           processor  the hub's main thread ran ${seconds(processor.ranMs)}, and waited ${seconds(processor.waitedMs)} for a processor`,
        ]
      : []),
    `           memory     ${mib(idleMiB)} before, ${mib(peakMiB)} at most, ${mib(laterMiB)} ${laterSeconds ?? 0} s later`,
    ...(laterHeap
      ? [
          `           then       ${mib(laterHeap.usedMiB)} used of a heap of ${mib(laterHeap.totalMiB)}, ${mib(laterHeap.externalMiB)} of buffers`,
        ]
      : []),
    ...problems.map((problem) => `           problem    ${problem}`),
    "",
  ].join("\n");
}

const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
const ms = (value: number): string => `${Math.round(value)} ms`;
const mib = (value: number | undefined): string => (value === undefined ? "not measured" : `${Math.round(value)} MiB`);
