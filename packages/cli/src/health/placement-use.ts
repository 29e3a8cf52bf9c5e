/** What the bindings of policies show about the placements: the affinity terms in use, and which members have copies. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { PlacementUse } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";
import { policyRefOf } from "./lost-targets.ts";
import type { PolicyRef } from "./lost-targets.ts";

interface Seen {
  affinities: Set<string>;
  /** Member, group and kind. */
  copies: Set<string>;
}

export interface PlacementUses {
  see(binding: DeepReadonly<ResourceBinding>): void;
  of(policy: Omit<PolicyRef, "kind"> & { readonly kind: string }): PlacementUse;
}

/** Collects the bindings by policy. */
export function createPlacementUses(): PlacementUses {
  const byPolicy = new Map<string, Seen>();
  return {
    see(binding) {
      const policy = policyRefOf(binding);
      if (!policy) return;
      const { affinities, copies } = byPolicy.get(idOf(policy)) ?? { affinities: new Set(), copies: new Set() };
      const { spec, status } = binding;
      if (status?.schedulerObservingAffinityName) affinities.add(status.schedulerObservingAffinityName);
      for (const { name } of spec.clusters ?? []) copies.add(copyId(name, spec.resource));
      byPolicy.set(idOf(policy), { affinities, copies });
    },
    of(policy) {
      const { affinities = new Set<string>(), copies } = byPolicy.get(idOf(policy)) ?? {};
      return { affinities, hasCopies: (cluster, ref) => copies?.has(copyId(cluster, ref)) ?? false };
    },
  };
}

const idOf = ({ kind, namespace = "", name }: Omit<PolicyRef, "kind"> & { readonly kind: string }): string =>
  `${kind} ${namespace}/${name}`;
const copyId = (cluster: string, { apiVersion, kind }: { apiVersion: string; kind: string }): string =>
  `${cluster} ${parseApiVersion(apiVersion).group}/${kind}`;
