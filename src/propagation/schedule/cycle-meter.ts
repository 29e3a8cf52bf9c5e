/**
 * What a scheduling cycle tells whoever measures it. A cycle over a thousand clusters takes less than a millisecond, so
 * its steps are measured whole, and its plugins on one of the clusters.
 */
import type { FleetCluster } from "./fleet.ts";
import type { FilterPlugin, SchedulingView, ScorePlugin } from "./framework.ts";

/** Karmada's words. */
export type CycleStep = "Filter" | "Score" | "Select" | "AssignReplicas";

export interface CycleMeter {
  /** Milliseconds since some moment, on a clock that only goes forward. */
  nowMs(): number;
  step(step: CycleStep, tookMs: number): void;
  /** All plugins of a point for one cluster. */
  point(point: "Filter" | "Score", tookMs: number, fits: boolean): void;
  plugin(plugin: string, point: "Filter" | "Score", tookMs: number, fits: boolean): void;
}

/** Asks the filters about one cluster once more, with a watch in hand. They are pure, so that changes nothing. */
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

/** The same for the plugins that score. */
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
