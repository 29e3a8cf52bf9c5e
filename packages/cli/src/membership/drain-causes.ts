/** Why replacements do not become healthy: what their pods on the members show. */
import type { DeepReadonly } from "@flotilla/base";
import type { ResourceBinding } from "@flotilla/karmada";
import { candidateOfBinding, copiesOf } from "../health/candidates.ts";
import { afflictedMembers, causesOf, idOf, lookAtPods } from "../health/look-at-pods.ts";
import { joinCauses } from "../health/name-members.ts";
import type { LookOptions } from "../health/look-at-pods.ts";
import { referenceTitle } from "@flotilla/apimachinery";

/** In one line. */
const MAX_CAUSES = 3;

/** By resource, of those whose pods show a cause. */
export async function readDrainCauses(
  member: string,
  bindings: readonly DeepReadonly<ResourceBinding>[],
  tools: Omit<LookOptions, "places">,
): Promise<ReadonlyMap<string, string>> {
  const nowMs = tools.clock.now();
  const leaving = bindings.filter(({ spec }) =>
    spec.gracefulEvictionTasks?.some(({ fromCluster }) => fromCluster === member),
  );
  const candidates = leaving.flatMap((binding) => {
    const candidate = candidateOfBinding(binding, { nowMs });
    if (!candidate) return [];
    // The copy that leaves is not a replacement.
    const copies = candidate.copies.filter(({ cluster }) => cluster !== member);
    return [{ candidate: { ...candidate, copies }, resource: referenceTitle(binding.spec.resource) }];
  });
  const copies = copiesOf(candidates.map(({ candidate }) => candidate));
  const { reports } = await lookAtPods(copies, { ...tools, places: undefined });
  return new Map(
    candidates.flatMap(({ candidate, resource }): [string, string][] => {
      const found = candidate.copies.flatMap((copy) => reports.get(idOf(copy)) ?? []);
      const causes = causesOf(found, true);
      return causes.length === 0 ? [] : [[resource, joinCauses(afflictedMembers(found, true), causes, MAX_CAUSES)]];
    }),
  );
}
