/** Where the kubelet of a node is reached. Pure. */
import type { DeepReadonly, JsonObject } from "@flotilla/base";

/** As kubeadm orders them: names of nodes are often not in the DNS. */
const ADDRESS_TYPES = ["InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname"] as const;
const KUBELET_PORT = 10_250;

interface NodeFields {
  status?: {
    addresses?: readonly { type?: string; address?: string }[];
    daemonEndpoints?: { kubeletEndpoint?: { Port?: number } };
  };
}

/** Undefined while the kubelet has not reported an address. */
export function kubeletAddress(node: DeepReadonly<JsonObject>): { host: string; port: number } | undefined {
  const { addresses = [], daemonEndpoints } = (node as NodeFields).status ?? {};
  for (const wanted of ADDRESS_TYPES) {
    const host = addresses.find(({ type }) => type === wanted)?.address;
    if (host) return { host, port: daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT };
  }
  return undefined;
}
