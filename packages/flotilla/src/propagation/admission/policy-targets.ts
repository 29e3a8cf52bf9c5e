/**
 * What a policy names that is not there: a kind that is not served, a cluster that has not joined. It is valid, because
 * both may be added later; more often it is a typo. Pure.
 */
import type { PropagationPolicy, OverridePolicy } from "@flotilla/karmada";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { ClusterAffinity } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { didYouMean } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

export type PolicySpec = DeepReadonly<
  Partial<Pick<PropagationPolicy["spec"], "placement" | "resourceSelectors"> & OverridePolicy["spec"]>
>;
type Affinity = DeepReadonly<ClusterAffinity> | undefined;

/** The kinds that a hub serves. */
export interface ServedKinds {
  /** The versions in which a kind is served; empty if it is not. */
  versions(group: string, kind: string): readonly string[];
  kinds(): Iterable<{ readonly group: string; readonly kind: string }>;
}

/** The selectors of a policy whose kind is not served: `the hub does not serve Wigdet in v1 (did you mean 'Widget'?)`. */
export function unservedSelectors(
  read: ServedKinds,
  { resourceSelectors = [] }: PolicySpec,
): { index: number; text: string }[] {
  return resourceSelectors.flatMap(({ apiVersion, kind }, index) => {
    const { group, version } = parseApiVersion(apiVersion);
    const served = read.versions(group, kind);
    if (served.includes(version)) return [];
    const elsewhere = served.map((each) => (group ? `${group}/${each}` : each)).join(", ");
    const meant = elsewhere ? `, but in ${elsewhere}` : didYouMean(kind, kindsLike(read, group, kind));
    return [{ index, text: `the hub does not serve ${kind} in ${apiVersion}${meant}` }];
  });
}

/**
 * Whether a selector can select objects: its version is served, or its kind is not served at all, and may be later. All
 * served versions of a kind are the same objects.
 */
export function mayMatch(read: ServedKinds, { apiVersion, kind }: { apiVersion: string; kind: string }): boolean {
  const { group, version } = parseApiVersion(apiVersion);
  const served = read.versions(group, kind);
  return served.length === 0 || served.includes(version);
}

/** The kinds of the group; for a group that is not served, the kinds of every group. */
function kindsLike(read: ServedKinds, group: string, kind: string): string[] {
  const all = [...read.kinds()].filter((served) => served.kind !== kind || served.group === group);
  const same = all.filter((served) => served.group === group);
  return (same.length > 0 ? same : all).map((served) => served.kind);
}

export const unjoinedIn = (affinity: Affinity, isJoined: (name: string) => boolean): string[] =>
  [...new Set(affinity?.clusterNames)].filter((name) => !isJoined(name));

/** Every cluster that a policy names and that has not joined, or has left. */
export function unjoinedClusters(spec: PolicySpec, isJoined: (name: string) => boolean): string[] {
  return [...new Set(namedClusters(spec).flatMap(([, affinity]) => unjoinedIn(affinity, isJoined)))];
}

/** The names in a placement that can select no member: it selects by name, and none of the names has joined. */
export function namesWithoutMember(spec: PolicySpec, isJoined: (name: string) => boolean): string[] {
  const { clusterAffinity, clusterAffinities = [] } = spec.placement ?? {};
  const terms: Affinity[] = clusterAffinities.length > 0 ? [...clusterAffinities] : [clusterAffinity];
  const names = terms.map((term) => term?.clusterNames ?? []);
  return names.some((list) => list.length === 0 || list.some(isJoined)) ? [] : [...new Set(names.flat())];
}

/** All fields in which a policy can name target clusters. */
export function namedClusters({
  placement,
  targetCluster,
  overrideRules = [],
}: PolicySpec): [at: string, affinity: Affinity][] {
  const { clusterAffinity, clusterAffinities = [], replicaScheduling } = placement ?? {};
  const weights = replicaScheduling?.weightPreference?.staticWeightList ?? [];
  return [
    ["spec.placement.clusterAffinity", clusterAffinity],
    ...clusterAffinities.flatMap((term, index): [string, Affinity][] => {
      const at = `spec.placement.clusterAffinities[${index}]`;
      return [
        [at, term],
        ...(term.overflowAffinities ?? []).map((overflow, place): [string, Affinity] => [
          `${at}.overflowAffinities[${place}]`,
          overflow,
        ]),
      ];
    }),
    ...weights.map((weight, index): [string, Affinity] => [
      `spec.placement.replicaScheduling.weightPreference.staticWeightList[${index}].targetCluster`,
      weight.targetCluster,
    ]),
    ["spec.targetCluster", targetCluster],
    ...overrideRules.map((rule, index): [string, Affinity] => [
      `spec.overrideRules[${index}].targetCluster`,
      rule.targetCluster,
    ]),
  ];
}
