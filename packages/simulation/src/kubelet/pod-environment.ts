/** What a kubelet knows about a pod besides the pod itself: the node, addresses, referenced objects, free room. */
import type { Node, Pod } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ClusterViews } from "../placement/views.ts";
import type { PodAddresses } from "./pod-addresses.ts";
import { roomBeside } from "./admit.ts";
import type { ContainerConfig } from "./config.ts";
import { hasStaleVariables, takesPart } from "./container-meta.ts";
import type { ContainerHashes } from "./container-meta.ts";
import type { Environment } from "./pod-status.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface EnvironmentDependencies {
  clock: Clock;
  views: ClusterViews;
  addresses: PodAddresses;
  config: ContainerConfig;
  hashes?: ContainerHashes | undefined;
}

export function environmentOf(
  deps: EnvironmentDependencies,
  pod: ReadonlyPod,
  node: DeepReadonly<Node>,
  cluster: string,
): Environment {
  const { clock, views, addresses, config, hashes } = deps;
  const { namespace = "", uid = "" } = pod.metadata;
  return {
    nowMs: clock.now(),
    hostIP: node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address,
    podIP: () => addresses.of(cluster, uid),
    mountProblem: pod.spec.volumes ? config.mountProblemOf(cluster, pod) : undefined,
    problemOf: (container) =>
      container.env || container.envFrom ? config.problemOf(cluster, namespace, container) : undefined,
    hasStaleVariables:
      hashes && takesPart(pod)
        ? (container: ReadonlyPod["spec"]["containers"][number]) => hasStaleVariables(pod, container, hashes)
        : undefined,
    room: () => roomBeside(pod, views.of(cluster)),
  };
}
