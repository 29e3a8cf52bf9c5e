/**
 * `metrics.k8s.io`, which a metrics server serves on real clusters, for `kubectl top` and autoscalers. The objects are
 * synthesized on every read; nothing is stored.
 *
 * Reads: Pod, Node.
 */
import { Node, Pod } from "@flotilla/kubernetes";
import type { Column, Kind, ObjectSource, Schema } from "@flotilla/apimachinery";
import { compareText, formatTime, defined } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import type { Informers } from "@flotilla/controller-runtime";
import type { ClusterViews } from "../placement/views.ts";
import type { LoadOf } from "./service-load.ts";
import { usageOf } from "./usage.ts";

const GROUP = "metrics.k8s.io";
const VERSION = "v1beta1";
/** Metrics servers scrape every fifteen seconds and report the window of the measurement. */
const WINDOW = "15s";
/** The usage of a node besides its pods. */
const SYSTEM = { cpu: 100, memory: 512 * 2 ** 20 } as const;

const usage: Schema = {
  type: "object",
  description: "Usage by resource.",
  additionalProperties: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
};
const shared = {
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  timestamp: { type: "string", format: "date-time", description: "End of the measurement." },
  window: { type: "string", description: "Length of the measurement window." },
} as const satisfies Record<string, Schema>;
const nodeSchema: Schema = {
  type: "object",
  description: "NodeMetrics is the resource usage of a node.",
  properties: { ...shared, usage },
};
const podSchema: Schema = {
  type: "object",
  description: "PodMetrics is the resource usage of the containers of a pod.",
  properties: {
    ...shared,
    containers: { type: "array", items: { type: "object", properties: { name: { type: "string" }, usage } } },
  },
};

export interface MetricsDependencies {
  informers: Informers;
  clock: Clock;
  views: ClusterViews;
  loadOf: LoadOf;
}

export function createMetricsSources({ informers, clock, views, loadOf }: MetricsDependencies): {
  pods: ObjectSource;
  nodes: ObjectSource;
} {
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const podMetrics = (cluster: string, pod: DeepReadonly<Pod>): JsonObject[] => {
    const used = usageOf(pod, loadOf(cluster, pod));
    if (!used) return [];
    return [
      {
        ...head("PodMetrics", pod, clock.now()),
        containers: used.containers.map(({ name, cpu, memory }) => ({ name, usage: amounts(cpu, memory) })),
      },
    ];
  };
  const nodeMetrics = (cluster: string, node: DeepReadonly<Node>): JsonObject => {
    let { cpu, memory }: { cpu: number; memory: number } = SYSTEM;
    for (const { pod } of views.of(cluster).podsOn(node.metadata.name)) {
      const used = usageOf(pod, loadOf(cluster, pod));
      cpu += used?.cpu ?? 0;
      memory += used?.memory ?? 0;
    }
    return { ...head("NodeMetrics", node, clock.now()), usage: amounts(cpu, memory) };
  };
  return {
    pods: {
      get(cluster, namespace = "", name) {
        const pod = pods.get({ cluster, namespace, name });
        return pod && podMetrics(cluster, pod)[0];
      },
      list: (cluster, namespace) =>
        pods
          .list({ cluster, namespace })
          .toSorted(byKey)
          .flatMap((pod) => podMetrics(cluster, pod)),
    },
    nodes: {
      get(cluster, _namespace, name) {
        const node = nodes.get({ cluster, name });
        return node && nodeMetrics(cluster, node);
      },
      list: (cluster) =>
        nodes
          .list({ cluster })
          .toSorted(byKey)
          .map((node) => nodeMetrics(cluster, node)),
    },
  };
}

type Named = { readonly metadata: { readonly namespace?: string; readonly name: string } };
const byKey = ({ metadata: a }: Named, { metadata: b }: Named): number =>
  compareText(`${a.namespace ?? ""}/${a.name}`, `${b.namespace ?? ""}/${b.name}`);

function head(
  kind: string,
  { metadata: { name, namespace, labels } }: DeepReadonly<Pod | Node>,
  nowMs: number,
): JsonObject {
  const now = formatTime(nowMs);
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind,
    metadata: {
      name,
      ...defined({ namespace }),
      creationTimestamp: now,
      ...defined({ labels: labels ? { ...labels } : undefined }),
    },
    timestamp: now,
    window: WINDOW,
  };
}

const amounts = (cpuMilli: number, bytes: number): JsonObject => ({
  cpu: `${cpuMilli}m`,
  memory: `${Math.ceil(bytes / 1024)}Ki`,
});

const name: Column = { name: "Name", type: "string", format: "name", jsonPath: ".metadata.name" };
const timestamp: Column = { name: "Timestamp", type: "date", jsonPath: ".timestamp" };

/** The kinds as a profile serves them; `sources` is called on read, so that the sources may be constructed later. */
export function metricsKinds(sources: () => { pods: ObjectSource; nodes: ObjectSource }): Kind[] {
  const made = (kind: string, plural: "pods" | "nodes", scope: Kind["scope"], schema: Schema): Kind => ({
    group: GROUP,
    kind,
    plural,
    scope,
    storageVersion: VERSION,
    versions: { [VERSION]: { schema, columns: [name, timestamp] } },
    subresources: {},
    verbs: ["get", "list"],
    source: {
      get: (...where) => sources()[plural].get(...where),
      list: (...where) => sources()[plural].list(...where),
    },
    builtIn: true,
    hasGeneration: false,
  });
  return [made("NodeMetrics", "nodes", "Cluster", nodeSchema), made("PodMetrics", "pods", "Namespaced", podSchema)];
}
