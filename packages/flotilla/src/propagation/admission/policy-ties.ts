/**
 * Policies that select the same objects with equal precedence: with the same scope and priority, and equally specific
 * selectors. Which one takes effect then depends on their names and on which was first, and the other one has no effect
 * on these objects. Pure.
 */
import { selectsClusterScoped } from "@flotilla/karmada";
import type { PropagationPolicy } from "@flotilla/karmada";
import { ApiError, labelSelectorOf, matchesLabels, parseApiVersion } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { mayMatch } from "./policy-targets.ts";
import type { ServedKinds } from "./policy-targets.ts";

type Ranked = DeepReadonly<Pick<PropagationPolicy, "metadata" | "spec">>;
type Selector = DeepReadonly<PropagationPolicy["spec"]["resourceSelectors"][number]>;

/** What two selectors both select. */
export interface SharedObjects {
  group: string;
  kind: string;
  /** Unset: of every namespace, or of none. */
  namespace: string | undefined;
  /** The labels of different selectors: there may be no such object. Unset if both select the same objects. */
  labels?: LabelSelector;
}

export interface Tie<T> {
  competitor: T;
  /** The index of the selector of the policy. */
  selector: number;
  /** An object that both select, for selectors with different labels. */
  object?: string | undefined;
}

/** Names an object, if there is one. */
export type FindObject = (shared: SharedObjects) => string | undefined;

export interface TieLookups {
  findObject: FindObject;
  /** The kinds that the hub serves; unset if they are unknown. */
  served?: ServedKinds | undefined;
}

/** The other policies that tie with each selector of a policy. The others are of the same kind and namespace. */
export function findTies<T extends Ranked>(
  policy: Ranked,
  others: readonly T[],
  { findObject, served }: TieLookups,
): Tie<T>[] {
  const competitors = competitorsOf(policy, others);
  const isDead = (each: Selector): boolean => served !== undefined && !mayMatch(served, each);
  return policy.spec.resourceSelectors.flatMap((ours, selector) =>
    competitors.flatMap((competitor): Tie<T>[] => {
      for (const theirs of competitor.spec.resourceSelectors) {
        const shared = isDead(ours) || isDead(theirs) ? undefined : sharedObjects(ours, theirs);
        const object = shared?.labels && findObject(shared);
        if (shared && (!shared.labels || object !== undefined)) return [{ competitor, selector, object }];
      }
      return [];
    }),
  );
}

/** What must be looked up to find the ties of a policy with selectors of different labels. */
export function possibleTies(policy: Ranked, others: readonly Ranked[]): SharedObjects[] {
  return competitorsOf(policy, others).flatMap((competitor) =>
    policy.spec.resourceSelectors.flatMap((ours) =>
      competitor.spec.resourceSelectors.flatMap((theirs) => {
        const shared = sharedObjects(ours, theirs);
        return shared?.labels ? [shared] : [];
      }),
    ),
  );
}

/** Whether an object is one of those that two selectors share. */
export const isShared = (
  { labels }: SharedObjects,
  { metadata }: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> | undefined } },
): boolean => labels === undefined || matchesLabels(labels, metadata.labels);

/** Policies with the same priority. */
const competitorsOf = <T extends Ranked>({ metadata, spec }: Ranked, others: readonly T[]): T[] =>
  others.filter(
    (other) =>
      other.metadata.name !== metadata.name &&
      other.metadata.deletionTimestamp === undefined &&
      (other.spec.priority ?? 0) === (spec.priority ?? 0),
  );

/** Undefined if they share none, or if one is more specific. Versions of a kind are the same objects. */
function sharedObjects(a: Selector, b: Selector): SharedObjects | undefined {
  const { group } = parseApiVersion(a.apiVersion);
  if (a.kind !== b.kind || (a.apiVersion !== b.apiVersion && parseApiVersion(b.apiVersion).group !== group))
    return undefined;
  const isNamespaced = !selectsClusterScoped(a);
  if (isNamespaced && a.namespace && b.namespace && a.namespace !== b.namespace) return undefined;
  // A name makes the labels irrelevant.
  if ((a.name ?? "") !== (b.name ?? "")) return undefined;
  const shared = { group, kind: a.kind, namespace: isNamespaced ? a.namespace || b.namespace || undefined : undefined };
  if (a.name || equalJson(a.labelSelector ?? null, b.labelSelector ?? null)) return shared;
  if (!a.labelSelector || !b.labelSelector || areDisjoint(a.labelSelector, b.labelSelector)) return undefined;
  const labels = bothLabels(a.labelSelector, b.labelSelector);
  return labels && { ...shared, labels };
}

/** Undefined for an invalid selector, which selects nothing: an older server may have stored one. */
function bothLabels(a: Labels, b: Labels): LabelSelector | undefined {
  try {
    return { requirements: [...labelSelectorOf(a).requirements, ...labelSelectorOf(b).requirements] };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

type Labels = NonNullable<Selector["labelSelector"]>;

/** The usual case: a policy for each value of the same label. */
const areDisjoint = ({ matchLabels: ours = {} }: Labels, { matchLabels: theirs = {} }: Labels): boolean =>
  Object.entries(ours).some(([key, value]) => Object.hasOwn(theirs, key) && theirs[key] !== value);
