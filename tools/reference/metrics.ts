/** docs/reference/metrics.md: every metric as it is declared. */
import { metricsPages } from "@flotilla/server";
import type { MetricsPage } from "@flotilla/server";
import type { Metric } from "@flotilla/base";
import { code, generatedNote, page, table } from "./markdown.ts";

export function renderMetrics(): string {
  return page(
    "# Metrics",
    generatedNote("the declarations in `packages/server/src/metrics-catalogue.ts`"),
    "The [guide](../guides/monitoring.md) describes what to scrape, the required permissions, and what to do " +
      "when an alert fires. Label values are bounded: kinds, members, controllers and fixed words. Object names " +
      "are labels only where kruise-state-metrics and kube-state-metrics have them.",
    ...metricsPages.map((each, index) => renderPage(each, metricsPages.slice(0, index))),
    NOTES,
  );
}

/** Metrics of an earlier page are only named. */
function renderPage({ title, path, about, metrics }: MetricsPage, earlier: readonly MetricsPage[]): string {
  const known = new Map(
    earlier.flatMap((each) => each.metrics.map((metric) => [metric.name, { title: each.title, metric }] as const)),
  );
  const own = metrics.filter((metric) => !isSame(known.get(metric.name)?.metric, metric));
  const shared = metrics.filter((metric) => isSame(known.get(metric.name)?.metric, metric));
  return [
    `## ${title}: ${code(path)}`,
    about,
    own.length > 0
      ? table(
          ["metric", "type", "labels", "description"],
          own.map((metric) => [code(metric.name), metric.type, metric.labels.map(code).join(", "), metric.help]),
        )
      : undefined,
    shared.length > 0 ? `As above: ${shared.map(({ name }) => code(name)).join(", ")}.` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

/** The workloads of one member differ from those of all only by the member label. */
function isSame(known: Metric | undefined, metric: Metric): boolean {
  return (
    known !== undefined &&
    known.labels.filter((label) => label !== "member_cluster").join() ===
      metric.labels.filter((label) => label !== "member_cluster").join()
  );
}

const NOTES = `## Differences from upstream

| Metric | Here |
|---|---|
| \`karmada_scheduler_plugin_execution_duration_seconds\`, \
\`karmada_scheduler_framework_extension_point_duration_seconds\` | measured on one cluster of each decision: a \
decision over a thousand clusters takes less time than reading a clock for each would |
| \`eviction_queue_depth\`, \`eviction_processing_*\` | of the stage that completes evictions; evictions in progress are in \`eviction_kind_total\` |
| \`karmada_build_info\` | \`git_version\` is Flotilla's, \`go_version\` is Node's; there is no commit |
| \`pool_*\`, \`karmada_scheduler_estimator_*\` | absent, because the measured components are |
| \`federatedhpa_pull_metrics_duration_seconds\` | of one member and metric; \`Resource\` and \`ContainerResource\` are read together |
| \`cloudevents_*\`, \`manifestworks_processed_total\`, \`grpc_server_*\`, \`patcher_*\` | absent: works are delivered by watches |
| \`kruise_*_labels\`, \`kruise_*_annotations\` | contain no labels or annotations of objects, like kruise-state-metrics without its allow lists |
| \`kruise_sidecarset_spec_namespcace\` | absent: it has the label \`namespace\` twice, which Prometheus rejects |
| \`kruise_statefulset_spec_reserveordinals\` | one sample, the highest ordinal; upstream repeats one series for each |
| \`kruise_workloadspread_status_subset_replicas\`, \`…_missing\` | the number is the value and the subset a label; \
upstream has the number as a character in a label |`;
