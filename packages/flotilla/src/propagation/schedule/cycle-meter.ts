/**
 * Measurements of a scheduling cycle. A cycle over a thousand clusters takes less than a millisecond, so each step is
 * measured as a whole, and the plugins on one of the clusters, while they run.
 */
import type { CycleMeter } from "../meter.ts";

type Point = "Filter" | "Score";

/** Reading the clock between plugins costs more than most of them, so only the first clusters are timed. */
const MAX_TIMED_CLUSTERS = 8;

/** The times of the plugins on one cluster. */
export class PluginTimes {
  readonly #meter: CycleMeter;
  readonly #startMs: number;
  readonly #laps: { plugin: string; tookMs: number; fits: boolean }[] = [];
  #beforeMs: number;

  constructor(meter: CycleMeter) {
    this.#meter = meter;
    this.#startMs = this.#beforeMs = meter.nowMs();
  }

  /** Called after each plugin. */
  ran(plugin: string, fits: boolean): void {
    const nowMs = this.#meter.nowMs();
    this.#laps.push({ plugin, tookMs: nowMs - this.#beforeMs, fits });
    this.#beforeMs = nowMs;
  }

  report(point: Point): void {
    for (const { plugin, tookMs, fits } of this.#laps) this.#meter.plugin(plugin, point, tookMs, fits);
    if (this.#laps.length > 0)
      this.#meter.point(
        point,
        this.#beforeMs - this.#startMs,
        this.#laps.every(({ fits }) => fits),
      );
  }
}

/** Times the plugins on the first cluster that fits, among the first ones; on the first one if none of these fits. */
export class TimedCluster {
  readonly #meter: CycleMeter | undefined;
  #timed = 0;
  #times: PluginTimes | undefined;
  #hasFit = false;

  constructor(meter: CycleMeter | undefined) {
    this.#meter = meter;
  }

  /** For the next cluster; undefined if it is not timed. */
  next(): PluginTimes | undefined {
    if (!this.#meter || this.#hasFit || this.#timed >= MAX_TIMED_CLUSTERS) return undefined;
    this.#timed++;
    return new PluginTimes(this.#meter);
  }

  /** The plugins have run on a timed cluster. */
  ran(times: PluginTimes, fits: boolean): void {
    this.#hasFit = fits;
    if (fits || !this.#times) this.#times = times;
  }

  report(point: Point): void {
    this.#times?.report(point);
  }
}
