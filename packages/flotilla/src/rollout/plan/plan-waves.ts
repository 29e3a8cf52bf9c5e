/**
 * Plans the waves of a release: how many pods of each member run the revision when a wave is complete. Pure.
 *
 * The numbers are cumulative and never fall, neither from wave to wave nor below what a member was given before: a member
 * that loses its label during a release keeps what it has, and one that gets a label is reached by the next wave that
 * selects it. Where a wave does not update all pods of its members, they are divided as a partition is
 * (docs/adr/0017): exactly, and in proportion to the members' sizes or one member after another.
 */
import { labelSelectorOf, matchesLabels, scaledValue } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { planUpdated } from "@flotilla/openkruise";
import type { StrategySpec, WaveSpec } from "../kinds/strategy-fields.ts";

export interface WaveMember {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The pods that it should run. */
  readonly size: number;
  /** What it was given in this release; undefined if it was not reached yet. */
  readonly floor?: number | undefined;
  /** The wave that reached it; undefined if it had the revision before, for example since it joined. */
  readonly wave?: string | undefined;
}

export interface PlannedWave {
  readonly name: string;
  /** Pods of the whole workload that run the revision when it is complete. */
  readonly updated: number;
  /** By member, cumulative. A member that is absent has not been reached. */
  readonly targets: ReadonlyMap<string, number>;
  /** The members whose number is higher than in the wave before, or that are reached first. */
  readonly members: readonly string[];
  /** The wave allows a number of pods, not members: one that it updates fully and that then gets more has no more updated. */
  readonly isCounted: boolean;
  /** Undefined for the wave that is added for the rest. */
  readonly spec?: DeepReadonly<WaveSpec>;
}

const REST = "rest";

type Strategy = DeepReadonly<Pick<StrategySpec, "waves" | "order" | "unit">>;

/**
 * `isWhole`: the kind has no partition, so that a member gets all or nothing. `leaving`: pods of the revision that still
 * run on members which the workload is leaving; a wave with a number of pods replaces them when they are gone.
 */
export function planWaves(
  strategy: Strategy,
  members: readonly WaveMember[],
  isWhole: boolean,
  leaving = 0,
): PlannedWave[] {
  const total = sumOf(members.map(({ size }) => size));
  const byClusters = isWhole || strategy.unit === "Clusters";
  const goals = goalsOf(strategy.waves, total);
  const planned: PlannedWave[] = [];
  const selected = new Set<string>();
  let before: ReadonlyMap<string, number> = new Map();
  const places = new Map(strategy.waves.map(({ name }, index) => [name, index]));
  for (const [index, wave] of strategy.waves.entries()) {
    const candidates = chosenBy(wave, members, selected);
    for (const { name } of candidates) selected.add(name);
    const asked = goals[index];
    const goal = asked === undefined || byClusters || asked >= total ? asked : Math.max(0, asked - leaving);
    // What a member was given counts from the wave that gave it, or from the first that selects it: a wave never has a
    // member that it does not select.
    const given = new Map(before);
    for (const { name, floor, size, wave: reached } of members) {
      if (floor === undefined) continue;
      const counts = reached === undefined ? selected.has(name) : (places.get(reached) ?? Infinity) <= index;
      if (counts) given.set(name, Math.max(given.get(name) ?? 0, Math.min(floor, size)));
    }
    const targets = byClusters
      ? byMember(members, candidates, given, goal)
      : byPods(members, candidates, given, goal, strategy.order);
    // Members without pods have no part in a number of pods. The last wave reaches them with all others; not an earlier
    // one, because they may be scaled up before its successors are approved.
    const isLast = index === strategy.waves.length - 1;
    if (isLast && candidates.every(({ name, size }) => (targets.get(name) ?? 0) >= size))
      for (const { name } of candidates) if (!targets.has(name)) targets.set(name, 0);
    planned.push(waveOf(wave.name, targets, before, { spec: wave, isCounted: goal !== undefined && !byClusters }));
    before = targets;
  }
  const isComplete = members.every(({ name, size }) => (before.get(name) ?? -1) >= size);
  if (!isComplete) {
    const all = new Map(members.map(({ name, size }) => [name, size]));
    planned.push(waveOf(uniqueRest(strategy.waves), all, before, { isCounted: false }));
  }
  return planned;
}

function waveOf(
  name: string,
  targets: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
  more: Pick<PlannedWave, "spec" | "isCounted">,
): PlannedWave {
  const raised = Array.from(targets).flatMap(([member, count]) => (count > (before.get(member) ?? -1) ? [member] : []));
  return { name, updated: sumOf([...targets.values()]), targets, members: raised, ...more };
}

const uniqueRest = (waves: Strategy["waves"]): string => {
  let name = REST;
  while (waves.some((wave) => wave.name === name)) name += "-rest";
  return name;
};

/** Undefined where all pods of the wave's members are updated. */
function goalsOf(waves: Strategy["waves"], total: number): (number | undefined)[] {
  const weights = sumOf(waves.map(({ weight = 0 }) => weight));
  let sum = 0;
  let last = 0;
  return waves.map(({ pods, weight }) => {
    if (weight !== undefined) {
      sum += weight;
      // A wave that changes nothing would prove nothing: each has at least one pod more, while there are any.
      last = Math.min(total, Math.max(last + 1, Math.ceil((total * sum) / weights)));
      return last;
    }
    if (pods === undefined) return undefined;
    return Math.min(total, Math.max(0, scaledValue(pods, total, { roundUp: true })));
  });
}

function chosenBy(
  { clusters }: DeepReadonly<WaveSpec>,
  members: readonly WaveMember[],
  selected: ReadonlySet<string>,
): readonly WaveMember[] {
  if (!clusters) return members;
  const { names, count } = clusters;
  const selector = labelSelectorOf({
    matchLabels: clusters.matchLabels,
    matchExpressions: clusters.matchExpressions,
  });
  const chosen = members.filter(
    ({ name, labels }) => (names === undefined || names.includes(name)) && matchesLabels(selector, labels),
  );
  return count === undefined ? chosen : chosen.filter(({ name }) => !selected.has(name)).slice(0, count);
}

function byPods(
  members: readonly WaveMember[],
  candidates: readonly WaveMember[],
  before: ReadonlyMap<string, number>,
  goal: number | undefined,
  order: Strategy["order"],
): Map<string, number> {
  const isCandidate = new Set(candidates.map(({ name }) => name));
  const had = members.map(({ name }) => before.get(name) ?? 0);
  if (goal === undefined) {
    return new Map(
      members.flatMap(({ name, size }) => {
        const count = isCandidate.has(name) ? size : before.get(name);
        return count === undefined ? [] : [[name, count] as const];
      }),
    );
  }
  // Members that are not selected keep what they have: they have no room for more.
  const sizes = members.map(({ name, size }, index) => (isCandidate.has(name) ? size : (had[index] ?? 0)));
  const updated = Math.min(Math.max(goal, sumOf(had)), sumOf(sizes));
  const counts = planUpdated({ sizes, updated, order: order === "Ordered" ? "ordered" : "spread", before: had });
  return new Map(
    members.flatMap(({ name }, index) => {
      const count = counts[index] ?? 0;
      return count > 0 || before.has(name) ? [[name, count] as const] : [];
    }),
  );
}

/** The shortest row of members that reaches the goal; members never have a part of their pods updated. */
function byMember(
  members: readonly WaveMember[],
  candidates: readonly WaveMember[],
  before: ReadonlyMap<string, number>,
  goal: number | undefined,
): Map<string, number> {
  const targets = new Map<string, number>();
  for (const { name, size } of members) if (before.has(name)) targets.set(name, size);
  let updated = sumOf([...targets.values()]);
  for (const { name, size } of candidates) {
    if (targets.has(name)) continue;
    if (goal !== undefined && updated >= goal) break;
    targets.set(name, size);
    updated += size;
  }
  return targets;
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
