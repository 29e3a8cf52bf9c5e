/**
 * Workloads on the members: OpenKruise objects under kruise-state-metrics' names, and quotas under kube-state-metrics'
 * name. A member's own page covers only that member, as if these programs ran there; the hub's page covers all members,
 * with the member as a label.
 *
 * Objects come from informers, which are started for a kind on the first scrape. The lines of an object are rendered
 * once per version and cached with it, so that a page of unchanged objects is only concatenated. Pages are bounded.
 */
import { ResourceQuota, viewOf } from "@flotilla/kubernetes";
import type { StateFamily } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { formatLabel, gauge, MetricsText, writeGauge } from "@flotilla/base";
import type { DeepReadonly, Metric } from "@flotilla/base";
import { tryParseQuantity } from "@flotilla/apimachinery";
import type { Informers } from "@flotilla/controller-runtime";
import { kruiseStateMetrics, kruiseStates } from "@flotilla/openkruise";
import { numberOfQuantity } from "./quantity.ts";

/**
 * With seventeen lines per object this is a page of about ten megabytes, which takes a tenth of a second to assemble.
 */
const MAX_OBJECTS = 5_000;

const QUOTA = gauge(
  "kube_resourcequota",
  "Limits of a quota (type hard) and their usage (type used), by resource.",
  "namespace",
  "resourcequota",
  "resource",
  "type",
);
const LEFT_OUT = gauge(
  "flotilla_members_page_left_out",
  `Objects omitted because the page has more than ${MAX_OBJECTS}; /metrics/members?cluster=NAME covers one member.`,
);

export const workloadMetrics: readonly Metric[] = [...kruiseStateMetrics, QUOTA];
export const membersPageMetrics: readonly Metric[] = [LEFT_OUT];

interface ExportedKind {
  kind: Kind;
  label: string;
  families: readonly StateFamily[];
}

const quotas: ExportedKind = {
  kind: ResourceQuota,
  label: "resourcequota",
  families: [
    {
      metric: QUOTA,
      samplesOf: ({ status, spec }) =>
        (["hard", "used"] as const).flatMap((type) =>
          Object.entries(
            (status[type] ?? (type === "hard" ? spec["hard"] : undefined) ?? {}) as Record<string, string>,
          ).flatMap(([resource, amount]) => {
            const quantity = tryParseQuantity(amount);
            return quantity ? [[[resource, type], numberOfQuantity(quantity)] as const] : [];
          }),
        ),
    },
  ],
};

const EXPORTED_KINDS: readonly ExportedKind[] = [...kruiseStates, quotas];

export interface WorkloadMetricsOptions {
  /** The names of the members. */
  members(): readonly string[];
  /** The informers of a cluster; undefined for a cluster this process does not watch. */
  informersOf(cluster: string): Informers | undefined;
  /** A kind that a cluster does not serve is not listed. */
  serves(cluster: string, kind: Kind): boolean;
}

export interface WorkloadMetrics {
  write(text: MetricsText, cluster: string): void;
  page(only?: string): string;
}

export function createWorkloadMetrics({ members, informersOf, serves }: WorkloadMetricsOptions): WorkloadMetrics {
  /** Keyed by object, for each family of its kind: the rendered lines after the member label. */
  const written = new WeakMap<object, readonly (readonly string[])[]>();

  function linesOf(exported: ExportedKind, object: DeepReadonly<KubernetesObject>): readonly (readonly string[])[] {
    let lines = written.get(object);
    if (!lines) written.set(object, (lines = writeLines(exported, object)));
    return lines;
  }

  function objectsOf({ kind }: ExportedKind, cluster: string): readonly DeepReadonly<KubernetesObject>[] {
    if (!serves(cluster, kind)) return [];
    return informersOf(cluster)?.of(kind).list({ cluster }) ?? [];
  }

  /** Returns how many objects did not fit. */
  function writeKinds(text: MetricsText, clusters: readonly string[], prefixOf: (cluster: string) => string): number {
    let room = MAX_OBJECTS;
    let leftOut = 0;
    for (const exported of EXPORTED_KINDS) {
      const found = clusters.map((cluster) => {
        const objects = objectsOf(exported, cluster);
        const fitting = objects.slice(0, room);
        room -= fitting.length;
        leftOut += objects.length - fitting.length;
        return { prefix: prefixOf(cluster), all: fitting.map((object) => linesOf(exported, object)) };
      });
      if (found.every(({ all }) => all.length === 0)) continue;
      for (const [index, { metric }] of exported.families.entries()) {
        text.family(metric);
        for (const { prefix, all } of found)
          for (const lines of all) for (const line of lines[index] ?? []) text.lines(`${metric.name}{${prefix}${line}`);
      }
    }
    return leftOut;
  }

  return {
    write(text, cluster) {
      writeKinds(text, [cluster], () => "");
    },
    page(only) {
      const text = new MetricsText();
      const clusters = members().filter((name) => only === undefined || name === only);
      const leftOut = writeKinds(text, clusters, (cluster) => `${formatLabel("member_cluster", cluster)},`);
      writeGauge(text, LEFT_OUT, [[[], leftOut]]);
      return text.finish();
    },
  };
}

function writeLines(
  { label, families }: ExportedKind,
  object: DeepReadonly<KubernetesObject>,
): readonly (readonly string[])[] {
  const view = viewOf(object);
  const own = [
    formatLabel("namespace", object.metadata.namespace ?? ""),
    formatLabel(label, object.metadata.name),
  ].join(",");
  return families.map(({ metric, samplesOf }) => {
    const names = metric.labels.slice(2);
    return samplesOf(view).map(
      ([values, value]) =>
        `${own}${names.map((name, index) => `,${formatLabel(name, values[index] ?? "")}`).join("")}} ${value}`,
    );
  });
}
