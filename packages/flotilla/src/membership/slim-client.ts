/**
 * A client that reduces nodes and pods to the fields that the sums need. A real cluster may have a hundred thousand
 * pods; the hub keeps a few hundred bytes of each in memory instead of several thousand.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Node, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, WatchEvent } from "@flotilla/client";

type Slimmer = (object: DeepReadonly<KubernetesObject>) => DeepReadonly<KubernetesObject>;

const metadataOf = ({
  metadata: { name, namespace, uid, resourceVersion },
}: DeepReadonly<KubernetesObject>): DeepReadonly<KubernetesObject>["metadata"] => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

/** For OpenKruise's own pods, readiness is kept too. */
const KRUISE_NAMESPACE = "kruise-system";

function readinessOf<C extends { type: string; status: string }>(
  conditions: readonly C[] = [],
): Pick<C, "type" | "status">[] {
  return conditions.filter(({ type }) => type === "Ready").map(({ type, status }) => ({ type, status }));
}

type Containers = DeepReadonly<Pod>["spec"]["containers"];
const requestsOf = (containers: Containers | undefined): Containers =>
  (containers ?? []).map(({ name, resources }) => ({
    name,
    resources: resources?.requests ? { requests: resources.requests } : undefined,
  }));

function slimPod(pod: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { nodeName, containers, initContainers, overhead } = pod.spec;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadataOf(pod),
    spec: {
      containers: requestsOf(containers),
      initContainers: initContainers ? requestsOf(initContainers) : undefined,
      nodeName: nodeName || undefined,
      overhead,
    },
    status: {
      phase: pod.status?.phase ? pod.status.phase : undefined,
      conditions: pod.metadata.namespace === KRUISE_NAMESPACE ? readinessOf(pod.status?.conditions) : undefined,
    },
  };
}

function slimNode(node: DeepReadonly<Node>): DeepReadonly<Node> {
  const { capacity, allocatable, conditions } = node.status ?? {};
  const ready = conditions && readinessOf(conditions);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: metadataOf(node),
    spec: node.spec?.unschedulable ? { unschedulable: true } : undefined,
    status: { capacity, allocatable, conditions: ready },
  };
}

/** The kind of a request determines the kind of its objects. */
const SLIMMERS: Readonly<Record<string, Slimmer>> = { Pod: (pod) => slimPod(pod as DeepReadonly<Pod>), Node: slimNode };

export function createSlimClient(client: Client): Client {
  const slimmerOf = (kind: Kind): Slimmer | undefined =>
    kind.group === "" && Object.hasOwn(SLIMMERS, kind.kind) ? SLIMMERS[kind.kind] : undefined;
  return {
    ...client,
    async list(kind, options) {
      const list = await client.list(kind, options);
      const slim = slimmerOf(kind);
      return slim ? { ...list, items: list.items.map((item) => slim(item) as typeof item) } : list;
    },
    async *watch<T extends KubernetesObject>(
      kind: Kind<T>,
      options: Parameters<Client["watch"]>[1],
    ): AsyncGenerator<WatchEvent<T>[]> {
      const slim = slimmerOf(kind);
      for await (const events of client.watch(kind, options)) {
        yield slim
          ? events.map((event) =>
              event.type === "BOOKMARK" ? event : { ...event, object: slim(event.object) as DeepReadonly<T> },
            )
          : events;
      }
    },
  };
}
