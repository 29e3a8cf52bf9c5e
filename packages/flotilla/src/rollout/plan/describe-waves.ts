/**
 * The waves as the status of a release has them. The planner counts what a member was given from the wave that reached it
 * first, so that a wave never gives more than its number; a wave that is over keeps the number that it had. Pure.
 */
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { planWaves } from "./plan-waves.ts";
import type { PlannedWave } from "./plan-waves.ts";
import { totalOf } from "./release.ts";
import type { Release } from "./release.ts";

type Waves = NonNullable<FleetRolloutStatus["plan"]>;

export function describeWaves(release: Release, waves: readonly PlannedWave[]): Waves {
  const { status, strategy, entries, members, input } = release;
  const { plan = [], waveIndex = 0, waveState } = status;
  const complete = waveState === "After" || status.phase === "Succeeded" ? waveIndex + 1 : waveIndex;
  // The number of a wave follows the number of pods: a tenth of them is another number after scaling.
  const isScaled = status.total !== totalOf(entries);
  const sizes = entries.map(({ name, replicas }) => {
    const { labels = {}, size = replicas } = members.get(name) ?? {};
    return { name, labels, size };
  });
  const fresh = complete > 0 ? planWaves(strategy, sizes, !input.updates.hasPartition) : [];
  const isMember = new Set(sizes.map(({ name }) => name));
  return waves.map(({ name, updated, members: raised }, index) => {
    const before = plan[index]?.name === name ? plan[index] : undefined;
    if (!before || index > waveIndex) return { name, updated, clusters: [...raised] };
    const clusters = new Set([...before.clusters.filter((each) => isMember.has(each)), ...raised]);
    if (index >= complete) return { name, updated, clusters: [...clusters] };
    const planned = fresh[index]?.updated ?? 0;
    return { name, updated: isScaled ? planned : Math.max(planned, before.updated), clusters: [...clusters] };
  });
}
