/**
 * Measurements of a scheduling cycle. A cycle over a thousand clusters takes less than a millisecond, so each step is
 * measured as a whole, and the plugins on one of the clusters.
 */
import type { FleetCluster } from "./fleet.ts";
import type { CycleMeter } from "../meter.ts";
import type { FilterPlugin, SchedulingView, ScorePlugin } from "./framework.ts";

/** Runs the filters for one cluster once more to measure them. They are pure, so this has no effect. */
export function measureFilters(
  meter: CycleMeter,
  view: SchedulingView,
  cluster: FleetCluster,
  plugins: readonly FilterPlugin[],
): void {
  const startMs = meter.nowMs();
  let beforeMs = startMs;
  for (const plugin of plugins) {
    const { fits } = plugin.filter(view, cluster);
    const nowMs = meter.nowMs();
    meter.plugin(plugin.name, "Filter", nowMs - beforeMs, fits);
    beforeMs = nowMs;
    if (!fits) return meter.point("Filter", nowMs - startMs, false);
  }
  meter.point("Filter", beforeMs - startMs, true);
}

/** The same for the score plugins. */
export function measureScores(
  meter: CycleMeter,
  view: SchedulingView,
  cluster: FleetCluster,
  plugins: readonly ScorePlugin[],
): void {
  const startMs = meter.nowMs();
  let beforeMs = startMs;
  for (const plugin of plugins) {
    plugin.score(view, cluster);
    const nowMs = meter.nowMs();
    meter.plugin(plugin.name, "Score", nowMs - beforeMs, true);
    beforeMs = nowMs;
  }
  meter.point("Score", beforeMs - startMs, true);
}
