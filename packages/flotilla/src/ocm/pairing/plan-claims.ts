/**
 * The claims of a member. Its own ClusterClaims win; the four names that Open Cluster Management reserves are filled in
 * from what the hub knows. Pure.
 */
import type { Cluster } from "@flotilla/karmada";
import type { ClusterClaim } from "@flotilla/ocm";
import type { ManagedClusterClaim } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

const [ID, VERSION, PLATFORM, PRODUCT] = [
  "id.k8s.io",
  "kubeversion.open-cluster-management.io",
  "platform.open-cluster-management.io",
  "product.open-cluster-management.io",
];
export const ID_CLAIM = ID;
export const PLATFORM_CLAIM = PLATFORM;
/** Not reserved, but widely used. */
export const REGION_CLAIM = "region.open-cluster-management.io";
const RESERVED: ReadonlySet<string> = new Set([ID, VERSION, PLATFORM, PRODUCT]);
/** The same number of custom claims as an agent exports. */
const MAX_CUSTOM_CLAIMS = 20;
const MAX_VALUE_LENGTH = 1024;

/** How distributions mark their server versions. */
const PRODUCTS: readonly (readonly [RegExp, string])[] = [
  [/-gke\./, "GKE"],
  [/-eks-/, "EKS"],
  [/\+k3s/, "K3S"],
  [/\+rke2/, "RKE2"],
  [/-aliyun\./, "ACK"],
  [/\+IKS/, "IKS"],
];

/** Reserved names first, each part sorted; custom claims beyond the limit are dropped. */
export function planClaims(
  { spec, status }: DeepReadonly<Cluster>,
  claims: readonly DeepReadonly<ClusterClaim>[],
): ManagedClusterClaim[] {
  const reserved = new Map<string, string>();
  const custom = new Map<string, string>();
  const version = status?.kubernetesVersion ?? "";
  if (spec.id) reserved.set(ID, spec.id);
  if (version) reserved.set(VERSION, version);
  reserved.set(PLATFORM, spec.provider || "Other");
  reserved.set(PRODUCT, PRODUCTS.find(([mark]) => mark.test(version))?.[1] ?? "Other");
  if (spec.region) custom.set(REGION_CLAIM, spec.region);
  for (const { metadata, spec: claim } of claims) {
    if (claim?.value) (RESERVED.has(metadata.name) ? reserved : custom).set(metadata.name, claim.value);
  }
  const sorted = (map: ReadonlyMap<string, string>): ManagedClusterClaim[] =>
    Array.from(map, ([name, value]) => ({ name, value: value.slice(0, MAX_VALUE_LENGTH) })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  return [...sorted(reserved), ...sorted(custom).slice(0, MAX_CUSTOM_CLAIMS)];
}
