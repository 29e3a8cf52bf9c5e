/**
 * Simulated nodes: what `kubectl get nodes` shows on a simulated member. They are written once; nothing sends heartbeats,
 * so an idle member costs no writes.
 */
import { Node } from "../api/index.ts";
import { formatTime } from "../base/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import { isAlreadyExists } from "../machinery/index.ts";

export interface NodeOptions {
  /** Zones in turn. */
  zones?: readonly string[];
  cpu?: string;
  memory?: string;
  pods?: string;
  /** What `kubectl get nodes` shows as version. */
  kubeletVersion?: string;
}

const DEFAULTS: Required<NodeOptions> = { zones: ["a", "b", "c"], cpu: "32", memory: "128Gi", pods: "110", kubeletVersion: "v1.36.0" };
/** More would be a mistake; a simulated member is a small cluster. */
export const MAX_NODES = 5_000;

/** `node-000`, `node-001`, …: the same names on every member. */
export function planNodes({ count, nowMs, ...options }: { count: number; nowMs: number } & NodeOptions): DeepReadonly<Node>[] {
  const settings = { ...DEFAULTS, ...options };
  return Array.from({ length: Math.min(count, MAX_NODES) }, (_, index) => makeNode(index, settings, nowMs));
}

function makeNode(index: number, { zones, cpu, memory, pods, kubeletVersion }: Required<NodeOptions>, nowMs: number): DeepReadonly<Node> {
  const name = `node-${String(index).padStart(3, "0")}`;
  const capacity = { cpu, memory, pods, "ephemeral-storage": "100Gi" };
  const now = formatTime(nowMs);
  const condition = (type: string, status: string, reason: string, message: string): object => ({ type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": zones[index % zones.length] ?? "a",
      },
    },
    spec: { providerID: `simulated://${name}` },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: "InternalIP", address: nodeAddress(index) },
        { type: "Hostname", address: name },
      ],
      conditions: [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("Ready", "True", "KubeletReady", "kubelet is simulated"),
      ],
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
    },
  } as unknown as DeepReadonly<Node>;
}

const nodeAddress = (index: number): string => `172.16.${Math.floor(index / 250)}.${(index % 250) + 1}`;

/** Creates the nodes that a member lacks; those that are there stay as they are. Two writes for a new node, because its status is one of its own. */
export async function ensureNodes(deps: { client: Client; clock: Clock }, cluster: string, count: number, options: NodeOptions = {}, signal?: AbortSignal): Promise<void> {
  const { client, clock } = deps;
  const passed = signal ? { signal } : {};
  const { items } = await client.list(Node, { cluster, ...passed });
  const present = new Map(items.map((node) => [node.metadata.name, node]));
  for (const node of planNodes({ count, nowMs: clock.now(), ...options })) {
    const stored = present.get(node.metadata.name) ?? (await createNode(node));
    if (stored && !stored.status?.conditions?.length) await client.updateStatus(Node, cluster, { ...stored, status: node.status }, passed);
  }

  async function createNode(node: DeepReadonly<Node>): Promise<DeepReadonly<Node> | undefined> {
    try {
      return await client.create(Node, cluster, node, passed);
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }
}
