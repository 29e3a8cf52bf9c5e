/**
 * Cluster: a member cluster, its connection settings and its reported status.
 *
 * Karmada serves it from an aggregated API server and has no CRD for it, so it is built in here.
 */
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Cluster as ClusterFacts } from "@flotilla/apimachinery/facts/cluster-karmada-v1alpha1.ts";
import { clusterDescriptions } from "./cluster-descriptions.ts";

export type Cluster = ClusterFacts;

const orNone = (text: string | undefined): string => text || "<none>";

export const Cluster: Kind<Cluster> = builtInKind<Cluster>({
  group: "cluster.karmada.io",
  version: "v1alpha1",
  kind: "Cluster",
  plural: "clusters",
  scope: "Cluster",
  facts: "cluster-karmada-v1alpha1",
  columns: [
    nameColumn,
    column<Cluster>("Version", ({ status }) => status?.kubernetesVersion ?? ""),
    column<Cluster>("Mode", ({ spec }) => spec.syncMode),
    column<Cluster>(
      "Ready",
      ({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "Unknown",
    ),
    ageColumn,
    column<Cluster>("Zones", ({ spec }) => orNone(spec.zones?.join(",")), wide),
    column<Cluster>("Region", ({ spec }) => orNone(spec.region), wide),
    column<Cluster>("Provider", ({ spec }) => orNone(spec.provider), wide),
    column<Cluster>("API-Endpoint", ({ spec }) => spec.apiEndpoint ?? "", wide),
    column<Cluster>("Proxy-URL", ({ spec }) => orNone(spec.proxyURL), wide),
  ],
  subresources: { status: true },
  traits: { names: "label", openApiPackage: "com.github.karmada-io.karmada.pkg.apis.cluster.v1alpha1" },
  hasGeneration: true,
  descriptions: clusterDescriptions,
});
