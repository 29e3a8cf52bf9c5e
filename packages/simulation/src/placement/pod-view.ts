/** A pod as placement sees it: its demands on a node, computed once. */
import { controllerOf } from "@flotilla/apimachinery";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { requestsOf } from "../amounts.ts";
import type { Amounts } from "../amounts.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type Terms = NonNullable<
  NonNullable<
    NonNullable<ReadonlyPod["spec"]["affinity"]>["podAntiAffinity"]
  >["requiredDuringSchedulingIgnoredDuringExecution"]
>;

export interface PodView {
  /** Replaced with each later state of the pod, so that old states are not kept in memory. */
  pod: ReadonlyPod;
  readonly uid: string;
  readonly namespace: string;
  readonly requests: Amounts;
  readonly priority: number;
  /** `TCP 8080 0.0.0.0`; most pods have none. */
  readonly hostPorts: readonly HostPort[];
  /** The pod's required anti-affinity terms. */
  readonly avoids: Terms;
  /** The controller owner whose pods are spread by default; empty for a pod without one. */
  readonly owner: string;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const NONE: readonly never[] = [];

export function podView(pod: ReadonlyPod): PodView {
  const { metadata, spec } = pod;
  return {
    pod,
    uid: metadata.uid ?? "",
    namespace: metadata.namespace ?? "",
    requests: requestsOf(pod),
    priority: spec.priority ?? 0,
    hostPorts: hostPortsOf(pod),
    avoids: spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? NONE,
    owner: spreadOwner(pod),
  };
}

/**
 * kube-scheduler spreads the pods of these kinds, and those of a Service, which are not looked at here. Pods of other kinds
 * such as CloneSets go where their preferences and the room are.
 */
const SPREAD_KINDS = new Set(["v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet"]);

function spreadOwner(pod: ReadonlyPod): string {
  const owner = controllerOf(pod);
  return owner && SPREAD_KINDS.has(`${owner.apiVersion} ${owner.kind}`) ? owner.uid : "";
}

/** Sidecars hold their ports as long as the pod runs; other init containers finish before they would matter. */
function hostPortsOf({ spec }: ReadonlyPod): readonly HostPort[] {
  let found: HostPort[] | undefined;
  const look = ({ ports }: ReadonlyPod["spec"]["containers"][number]): void => {
    for (const { hostPort, hostIP, protocol } of ports ?? NONE)
      if (hostPort) (found ??= []).push({ ip: hostIP || "0.0.0.0", protocol: protocol ?? "TCP", port: hostPort });
  };
  for (const container of spec.containers) look(container);
  for (const container of spec.initContainers ?? NONE) if (container.restartPolicy === "Always") look(container);
  return found ?? NONE;
}

/** The wildcard address collides with every address. */
export function portsCollide(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0");
}
