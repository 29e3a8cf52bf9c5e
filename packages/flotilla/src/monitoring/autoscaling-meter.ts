/** Metrics of the autoscalers of the fleet: durations under Karmada's names, and what they change back and forth. */
import { exponentialBuckets, gauge, histogram, Histograms, writeGauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { AutoscalingMeter } from "../autoscaling/autoscaling-meter.ts";
import { nowMs, resultOf } from "./pipeline-meter.ts";

const BUCKETS = exponentialBuckets(0.01, 2, 12);

const PULLED = histogram(
  "federatedhpa_pull_metrics_duration_seconds",
  "Time to read a metric of a FederatedHPA from a member, by type of the metric.",
  BUCKETS,
  "result",
  "metricType",
);
const RULES = histogram(
  "cronfederatedhpa_rule_process_duration_seconds",
  "Time to carry out a rule of a CronFederatedHPA that is due.",
  BUCKETS,
  "result",
);
const DISPUTES = gauge(
  "flotilla_autoscaler_disputes",
  "Numbers of replicas, and limits of FederatedHPAs, that autoscalers changed back and forth, and that are not changed any more.",
);

export const autoscalingMetrics: readonly Metric[] = [PULLED, RULES, DISPUTES];

export function createAutoscalingMeter(): { meter: AutoscalingMeter; write(text: MetricsText): void } {
  const pulled = new Histograms(PULLED);
  const rules = new Histograms(RULES);
  let disputes = (): number => 0;
  return {
    meter: {
      nowMs,
      metricsPulled: (type, tookMs, isFine) => pulled.observe([resultOf(isFine), type], tookMs / 1000),
      ruleCarriedOut: (tookMs, isFine) => rules.observe([resultOf(isFine)], tookMs / 1000),
      followDisputes: (stopped) => (disputes = stopped),
    },
    write(text) {
      pulled.write(text);
      rules.write(text);
      writeGauge(text, DISPUTES, [[[], disputes()]]);
    },
  };
}
