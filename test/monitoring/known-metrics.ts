/**
 * The metrics that rules and the dashboard may use: those of our pages, and those that Prometheus adds to each target.
 */
import { metricsPages } from "@flotilla/server";

/** Labels that Prometheus adds to every series. */
const TARGET_LABELS = ["job", "instance"];

const known = new Map<string, Set<string>>([["up", new Set(TARGET_LABELS)]]);
for (const { metrics, path } of metricsPages) {
  // The page of one simulated member is not scraped by the shipped configuration.
  if (path.startsWith("/clusters/")) continue;
  for (const { name, type, labels } of metrics) {
    const names = type === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name];
    for (const each of names)
      known.set(each, new Set([...labels, ...TARGET_LABELS, ...(each.endsWith("_bucket") ? ["le"] : [])]));
  }
}

/** Undefined if the metric does not exist. */
export const labelsOfMetric = (name: string): readonly string[] | undefined =>
  known.get(name) && [...(known.get(name) ?? [])];
