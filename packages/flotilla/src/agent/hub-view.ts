/**
 * The part of the hub that an agent reads: a few kinds, and only its own objects. It may not read more, and ten
 * thousand Works of other clusters must cost it nothing.
 */
import { Cluster, executionNamespace, Work } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import type { Kind } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";

type Part = { namespace: string } | { fieldSelector: string };

/** The same client, with lists and watches of these kinds limited to one member. */
export function createHubView(client: Client, cluster: string): Client {
  const itself: Part = { fieldSelector: `metadata.name=${cluster}` };
  const parts = new Map<string, Part>([
    [idOf(Work), { namespace: executionNamespace(cluster) }],
    [idOf(ManifestWork), { namespace: cluster }],
    [idOf(Lease), { namespace: cluster }],
    [idOf(Cluster), itself],
    [idOf(ManagedCluster), itself],
  ]);
  return {
    ...client,
    list: (kind, options) => client.list(kind, { ...options, ...parts.get(idOf(kind)) }),
    watch: (kind, options) => client.watch(kind, { ...options, ...parts.get(idOf(kind)) }),
  };
}

const idOf = ({ group, plural }: Kind): string => `${group}/${plural}`;
