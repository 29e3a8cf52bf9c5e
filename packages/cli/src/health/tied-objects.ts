/**
 * Objects that two policies select by different labels with equal precedence. Only the hub knows whether there is one: each
 * pair of selectors is one request for one object.
 */
import { formatLabelSelector, HUB, isForbidden } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { possibleTies } from "@flotilla/flotilla";
import type { FindObject, SharedObjects } from "@flotilla/flotilla";
import { kindOf } from "../members/served-types.ts";
import type { ServedType } from "../members/served-types.ts";
import { scopeOf } from "./ineffective-parts.ts";
import type { Policy } from "./ineffective-parts.ts";

/** Selectors with different labels are rare. */
const MAX_LOOKUPS = 100;
/** Every pair of a namespace is compared. */
const MAX_POLICIES = 2000;

export interface TiedObjects {
  find: FindObject;
  /** What was not looked at. */
  unseen: string[];
}

export async function readTiedObjects(
  policies: readonly Policy[],
  types: readonly ServedType[],
  client: Client,
  signal: AbortSignal,
): Promise<TiedObjects> {
  const unseen = new Set<string>();
  const lookups = new Map<string, SharedObjects>();
  for (const group of Map.groupBy(policies, scopeOf).values()) {
    if (group.length > MAX_POLICIES)
      unseen.add(`which of more than ${MAX_POLICIES} policies select the same object by different labels`);
    const compared = group.slice(0, MAX_POLICIES);
    // Each pair once.
    for (const [index, policy] of compared.entries())
      for (const shared of possibleTies(policy, compared.slice(index + 1))) lookups.set(idOf(shared), shared);
  }
  if (lookups.size > MAX_LOOKUPS)
    unseen.add(
      `whether ${lookups.size - MAX_LOOKUPS} more pairs of policies select the same object: only ${MAX_LOOKUPS} are looked up`,
    );
  const found = new Map<string, string>();
  const lookUp = async ([id, shared]: [string, SharedObjects]): Promise<void> => {
    const type = types.find(({ group, kind }) => group === shared.group && kind === shared.kind);
    if (!type) return;
    try {
      const { items } = await client.list(kindOf(type), {
        cluster: HUB,
        namespace: shared.namespace,
        labelSelector: shared.labels && formatLabelSelector(shared.labels),
        limit: 1,
        signal,
      });
      const [object] = items;
      if (object) found.set(id, `${shared.kind} ${object.metadata.name}`);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unseen.add(`whether two policies select the same ${type.plural}: you are not allowed to list them`);
    }
  };
  await Promise.all([...lookups].slice(0, MAX_LOOKUPS).map(lookUp));
  return { find: (shared) => found.get(idOf(shared)), unseen: [...unseen] };
}

const idOf = ({ group, kind, namespace, labels }: SharedObjects): string =>
  JSON.stringify([group, kind, namespace, labels && formatLabelSelector(labels).split(",").toSorted()]);
