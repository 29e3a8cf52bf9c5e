/**
 * Watches that an object disappears from a member only with a reason. In a steady run no user asks for the deletion of a
 * copy; a member whose share becomes zero loses it.
 */
import { companionKey, isTakenAlong } from "./companion.ts";
import { NAMESPACE, TARGETS } from "./manifests.ts";
import type { Target } from "./manifests.ts";
import type { StoreView } from "./store-view.ts";

interface Options {
  hub: StoreView;
  names: readonly string[];
  /** What was removed without a reason. */
  report(details: string): void;
}

export interface RemovalWatch {
  /** An object of the hub was written. */
  onHubWrite(key: string): void;
  /** An object of a member is gone. */
  onRemoval(key: string): void;
  /** From here on a removal needs a new reason. */
  converged(): void;
}

export function createRemovalWatch({ hub, names, report }: Options): RemovalWatch {
  /** Why a copy may be removed, since everything was converged. */
  const reasons = new Set<string>();

  /** Whether each member has a copy, however many replicas are asked for. */
  function isEverywhere({ name, namespace }: Target): boolean {
    const policy = hub.get(
      namespace
        ? `/policy.karmada.io/propagationpolicies/hub/${namespace}/place-${name}`
        : `/policy.karmada.io/clusterpropagationpolicies/hub/place-${name}`,
    );
    return policy?.spec.placement.replicaScheduling?.replicaSchedulingType === "Duplicated";
  }

  const bindingKeyOf = ({ name, kind }: Target): string =>
    `/work.karmada.io/resourcebindings/hub/${NAMESPACE}/${name}-${kind.kind.toLowerCase()}`;
  const workKeyOf = (member: string): string => `/work.open-cluster-management.io/manifestworks/hub/${member}/notes`;

  /** Since everything was converged, a binding did not name a member, or a ManifestWork was deleted. */
  function noteReasons(key: string): void {
    if (key.startsWith("/work.karmada.io/resourcebindings/hub/")) {
      const parts = (hub.get(key)?.spec.clusters ?? []) as { name: string; replicas?: number }[];
      const named = new Set(parts.flatMap(({ name, replicas }) => (replicas === 0 ? [] : [name])));
      for (const member of names) if (!named.has(member)) reasons.add(`${key} ${member}`);
    }
    if (key.startsWith("/work.open-cluster-management.io/manifestworks/hub/")) {
      const work = hub.get(key);
      if (!work || work.metadata.deletionTimestamp) reasons.add(key);
    }
  }

  return {
    onHubWrite: noteReasons,
    onRemoval(key) {
      const say = (): void => report(`${key} was removed, and no user asked for it`);
      for (const member of names) {
        for (const target of Object.values(TARGETS)) {
          const isCopy =
            key === `${target.table}${member}/${target.path}` && hub.get(`${target.table}hub/${target.path}`);
          if (isCopy && (isEverywhere(target) || !reasons.has(`${bindingKeyOf(target)} ${member}`))) say();
        }
        const isWithItsPods =
          isEverywhere(TARGETS.CloneSet) || !reasons.has(`${bindingKeyOf(TARGETS.CloneSet)} ${member}`);
        if (key === companionKey(member) && isTakenAlong(hub) && isWithItsPods) say();
        if (key === `/core/namespaces/${member}/${NAMESPACE}`) say();
        const isOfWork = key === `/core/configmaps/${member}/notes/notes` || key === `/core/namespaces/${member}/notes`;
        if (isOfWork && hub.get(workKeyOf(member)) && !reasons.has(workKeyOf(member))) say();
      }
    },
    converged() {
      reasons.clear();
      for (const target of Object.values(TARGETS)) noteReasons(bindingKeyOf(target));
      for (const member of names) noteReasons(workKeyOf(member));
    },
  };
}
