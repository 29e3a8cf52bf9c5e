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
  /** Group and kind of the objects. */
  kinds: Set<string>;
}

type PolicyName = Omit<PolicyRef, "kind"> & { readonly kind: string };
type KindRef = { readonly apiVersion: string; readonly kind: string };

export interface PlacementUses {
  see(binding: DeepReadonly<ResourceBinding>): void;
  of(policy: PolicyName): PlacementUse;
  /** Whether the policy has objects of the kind. */
  has(policy: PolicyName, kind: KindRef): boolean;
}

/** Collects the bindings by policy. */
export function createPlacementUses(): PlacementUses {
  const byPolicy = new Map<string, Seen>();
  return {
    see(binding) {
      const policy = policyRefOf(binding);
      if (!policy) return;
      const seen = byPolicy.get(idOf(policy)) ?? { affinities: new Set(), copies: new Set(), kinds: new Set() };
      const { affinities, copies, kinds } = seen;
      const { spec, status } = binding;
      if (status?.schedulerObservingAffinityName) affinities.add(status.schedulerObservingAffinityName);
      for (const { name } of spec.clusters ?? []) copies.add(copyId(name, spec.resource));
      kinds.add(kindId(spec.resource));
      byPolicy.set(idOf(policy), seen);
    },
    of(policy) {
      const { affinities = new Set<string>(), copies } = byPolicy.get(idOf(policy)) ?? {};
      return { affinities, hasCopies: (cluster, ref) => copies?.has(copyId(cluster, ref)) ?? false };
    },
    has: (policy, kind) => byPolicy.get(idOf(policy))?.kinds.has(kindId(kind)) ?? false,
  };
}

const idOf = ({ kind, namespace = "", name }: PolicyName): string => `${kind} ${namespace}/${name}`;
const kindId = ({ apiVersion, kind }: KindRef): string => `${parseApiVersion(apiVersion).group}/${kind}`;
const copyId = (cluster: string, kind: KindRef): string => `${cluster} ${kindId(kind)}`;
