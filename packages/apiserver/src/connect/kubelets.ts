/** The kubelets of clusters that no container runtime in this process runs. */
import { Node } from "@flotilla/kubernetes";
import type { Clock } from "@flotilla/base";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { clusterId } from "../clusters/layer.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import type { ContainerRuntime } from "./backend.ts";
import { createDial } from "./dial.ts";
import type { ClientIdentity } from "./dial.ts";
import { createKubeletRuntime, kubeletClientName } from "./kubelet-runtime.ts";

/** Otherwise a tenant who writes Nodes could have the server call any address of its network. */
const NEEDS_AUTHORITY =
  "clients of other machines use this server, so it calls only kubelets whose certificates it can verify; start it with --kubelet-certificate-authority";

export interface KubeletsDependencies {
  clock: Clock;
  store: ObjectStore;
  blockedAddresses: BlockedAddresses;
  /** Clients of other machines connect. */
  isExposed: boolean;
  /** The certificate with a common name with which kubelets are called; without it they do not know the server. */
  identity?: ((commonName: string) => ClientIdentity) | undefined;
  /** PEM: the authorities that sign the certificates of kubelets. Unset: any certificate is accepted. */
  ca?: (() => string) | undefined;
}

export function createKubelets({
  clock,
  store,
  blockedAddresses,
  isExposed,
  identity,
  ca,
}: KubeletsDependencies): (cluster: LogicalCluster) => ContainerRuntime {
  const dial = createDial(clock);
  return (cluster) => {
    const read = createClusterReader(store, cluster);
    return createKubeletRuntime({
      dial,
      cluster: cluster.name,
      nodeOf: (name) => read.get(Node, undefined, name),
      identity: identity?.(kubeletClientName(clusterId(cluster))),
      ca: ca?.(),
      problem: isExposed && ca === undefined ? NEEDS_AUTHORITY : undefined,
      blocked: blockedAddresses(cluster.name),
    });
  };
}
