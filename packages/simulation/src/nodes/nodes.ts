/**
 * Simulated nodes, as `kubectl get nodes` shows them on a simulated member. They are written once and send no
 * heartbeats, because the controllers that would check these run in the same process. So an idle member costs no
 * writes.
 */
import { Node, ARCH_LABEL, HOSTNAME_LABEL, OS_LABEL, REGION_LABEL, ZONE_LABEL } from "@flotilla/kubernetes";
import type { NodeCondition, Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { defined, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";

export interface NodeOptions {
  /** Assigned round-robin. */
  zones?: readonly string[];
  cpu?: string;
  memory?: string;
  pods?: string;
  ephemeralStorage?: string;
  /** Extended resources, such as `example.com/gpu`. */
  extended?: Readonly<Record<string, string>>;
  region?: string;
  /** Added to the labels that every node has. */
  labels?: Readonly<Record<string, string>>;
  taints?: readonly Taint[];
  /** The VERSION column of `kubectl get nodes`. */
  kubeletVersion?: string;
  /** Unset: `node-000`, `node-001`, … */
  nameOf?(index: number): string;
}

const DEFAULTS: Required<NodeOptions> = {
  zones: ["a", "b", "c"],
  region: "r1",
  cpu: "32",
  memory: "128Gi",
  pods: "110",
  ephemeralStorage: "100Gi",
  extended: {},
  labels: {},
  taints: [],
  kubeletVersion: "v1.36.0",
  nameOf: (index) => `node-${String(index).padStart(3, "0")}`,
};
/** A larger number would be a mistake; a simulated member is a small cluster. */
const MAX_NODES = 5_000;

/** `node-000`, `node-001`, …: the same names on every member. */
export function planNodes({
  count,
  nowMs,
  ...options
}: { count: number; nowMs: number } & NodeOptions): DeepReadonly<Node>[] {
  const settings = { ...DEFAULTS, ...defined(options) };
  return Array.from({ length: Math.min(count, MAX_NODES) }, (_, index) => makeNode(index, settings, nowMs));
}

function makeNode(index: number, settings: Required<NodeOptions>, nowMs: number): DeepReadonly<Node> {
  const { zones, region, labels, taints, nameOf } = settings;
  const name = nameOf(index);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        [HOSTNAME_LABEL]: name,
        [OS_LABEL]: "linux",
        [ARCH_LABEL]: "amd64",
        [REGION_LABEL]: region,
        [ZONE_LABEL]: zones[index % zones.length] ?? "a",
        ...labels,
      },
    },
    spec: { providerID: `simulated://${name}`, taints: taints.length > 0 ? taints : undefined },
    status: nodeStatus(name, nodeAddress(index), settings, nowMs),
  };
}

/** The status that the kubelet of a healthy node reports. */
export function nodeStatus(
  name: string,
  address: string,
  options: NodeOptions,
  nowMs: number,
): DeepReadonly<NonNullable<Node["status"]>> {
  const { cpu, memory, pods, ephemeralStorage, extended, kubeletVersion } = { ...DEFAULTS, ...defined(options) };
  const capacity = { cpu, memory, pods, "ephemeral-storage": ephemeralStorage, ...extended };
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    conditions: healthyConditions(nowMs),
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      machineID: name,
      systemUUID: name,
      bootID: name,
      kernelVersion: "simulated",
      osImage: "Flotilla simulation",
      containerRuntimeVersion: "sim://1.0",
      kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}

export function healthyConditions(nowMs: number): NodeCondition[] {
  const now = formatTime(nowMs);
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    condition("Ready", "True", "KubeletReady", "kubelet is simulated"),
  ];
}

export const nodeAddress = (index: number): string => `172.16.${Math.floor(index / 250)}.${(index % 250) + 1}`;

/**
 * Creates the missing nodes of a member; existing ones are not changed. A new node costs two writes, because status is
 * a subresource.
 */
export async function ensureNodes(
  deps: { client: Client; clock: Clock },
  cluster: string,
  count: number,
  options: NodeOptions = {},
  signal?: AbortSignal,
): Promise<void> {
  const { client, clock } = deps;
  const { items } = await client.list(Node, { cluster, signal });
  const present = new Map(items.map((node) => [node.metadata.name, node]));
  for (const node of planNodes({ count, nowMs: clock.now(), ...options })) {
    const stored = present.get(node.metadata.name) ?? (await createNode(node));
    if (stored && !stored.status?.conditions?.length)
      await client.updateStatus(Node, cluster, { ...stored, status: node.status }, { signal });
  }

  async function createNode(node: DeepReadonly<Node>): Promise<DeepReadonly<Node> | undefined> {
    try {
      return await client.create(Node, cluster, node, { signal });
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }
}
