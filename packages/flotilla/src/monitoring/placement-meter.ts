/** Metrics of Placements, under Open Cluster Management's names and with its labels and buckets. */
import { exponentialBuckets, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { PlacementMeter } from "../ocm/placement/meter.ts";
import { nowMs } from "./pipeline-meter.ts";

const BUCKETS = exponentialBuckets(1e-6, 10, 10);
/** The name of the only Placement scheduler. */
const NAME = "placement_scheduling";

const SCHEDULING = histogram("scheduling_scheduling_duration_seconds", "Time to decide a Placement.", BUCKETS, "name");
const BINDING = histogram(
  "scheduling_bind_duration_seconds",
  "Time to write the decisions of a Placement.",
  BUCKETS,
  "name",
);
const PLUGINS = histogram(
  "scheduling_plugin_duration_seconds",
  "Time that a filter or a prioritizer took for a Placement.",
  BUCKETS,
  "name",
  "plugin_type",
  "plugin_name",
);
const EXPRESSIONS = histogram(
  "scheduling_cel_runtime_duration_seconds",
  "Time that the CEL expressions of a Placement took for all clusters.",
  BUCKETS,
  "name",
);

export const placementMetrics: readonly Metric[] = [SCHEDULING, BINDING, PLUGINS, EXPRESSIONS];

export function createPlacementMeter(): { meter: PlacementMeter; write(text: MetricsText): void } {
  const scheduling = new Histograms(SCHEDULING);
  const binding = new Histograms(BINDING);
  const plugins = new Histograms(PLUGINS);
  const expressions = new Histograms(EXPRESSIONS);
  return {
    meter: {
      nowMs,
      scheduled: (tookMs) => scheduling.observe([NAME], tookMs / 1000),
      bound: (tookMs) => binding.observe([NAME], tookMs / 1000),
      plugin: (type, name, tookMs) => plugins.observe([NAME, type, name], tookMs / 1000),
      expressions: (tookMs) => expressions.observe([NAME], tookMs / 1000),
    },
    write(text) {
      for (const family of [scheduling, binding, plugins, expressions]) family.write(text);
    },
  };
}
