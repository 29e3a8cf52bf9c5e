/**
 * The clusters of a plan as they are once the CustomResourceDefinitions that it delivers exist there. Objects of these
 * kinds are scheduled only to clusters that serve them. Pure.
 */
import type { Cluster, Work } from "@flotilla/karmada";
import { clusterNameOf } from "@flotilla/karmada";
import { formatApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { equalJson } from "@flotilla/base";
import type { FleetSnapshot } from "./snapshot.ts";
import { placeOf } from "./snapshot.ts";

type Enablements = NonNullable<NonNullable<Cluster["status"]>["apiEnablements"]>;

interface Definition {
  kind: string;
  apiVersion: string;
  spec: {
    group: string;
    names: { kind: string; plural: string };
    versions: readonly { name: string; served: boolean }[];
  };
}

/** The same list when the plan delivers no new or changed definition. */
export function withDefinitions(
  { clusters, works: before }: Pick<FleetSnapshot, "clusters" | "works">,
  works: readonly DeepReadonly<Work>[],
): FleetSnapshot["clusters"] {
  const known = new Map(before.map((work) => [placeOf(work), work]));
  const delivered = new Map<string, Enablements>();
  for (const work of works) {
    const cluster = clusterNameOf(work.metadata.namespace ?? "");
    const served = servedBy(work);
    if (cluster === undefined || served.length === 0) continue;
    // A definition that the member has had for a while is in the member's own report, or was rejected there.
    const earlier = known.get(placeOf(work));
    if (earlier && equalJson(servedBy(earlier), served)) continue;
    delivered.set(cluster, [...(delivered.get(cluster) ?? []), ...served]);
  }
  if (delivered.size === 0) return clusters;
  return clusters.map((cluster) => {
    const more = delivered.get(cluster.metadata.name);
    if (!more) return cluster;
    return {
      ...cluster,
      status: { ...cluster.status, apiEnablements: [...(cluster.status?.apiEnablements ?? []), ...more] },
    };
  });
}

function servedBy({ spec }: DeepReadonly<Work>): Enablements {
  const manifests = (spec.workload?.manifests ?? []) as unknown as readonly Definition[];
  return manifests
    .filter(({ apiVersion, kind }) => kind === "CustomResourceDefinition" && apiVersion === "apiextensions.k8s.io/v1")
    .flatMap(({ spec: { group, names, versions } }) =>
      versions
        .filter(({ served }) => served)
        .map(({ name }) => ({
          groupVersion: formatApiVersion(group, name),
          resources: [{ kind: names.kind, name: names.plural }],
        })),
    );
}
