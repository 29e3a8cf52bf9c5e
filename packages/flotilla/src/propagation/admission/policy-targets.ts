/**
 * A policy that selects a kind that is not served, or names a cluster that has not joined, is valid: both may be added
 * later. More often it is a typo and the policy would silently do nothing. A second policy for the same objects is valid
 * too, and one of the two has no effect. So is one whose objects a taint does not move. So the writer receives a warning.
 */
import {
  Cluster,
  CLUSTER_POLICY_ID,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  POLICY_ID,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { AdmissionStep, ClusterReader, Kind, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import type { ClusterAffinity } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { OverridePolicy } from "@flotilla/karmada";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { didYouMean } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { blindRules } from "../override/blind-overriders.ts";
import { isFinishedRun } from "../jobs/finished-run.ts";
import { formatTaint } from "../schedule/tolerations.ts";
import { inertTaint } from "./inert-taints.ts";
import { findTies, isShared } from "./policy-ties.ts";
import { unservingMembers, unservingText } from "./unserving-members.ts";

const GROUP = "policy.karmada.io";
const POLICIES: ReadonlySet<string> = new Set([
  "propagationpolicies",
  "clusterpropagationpolicies",
  "overridepolicies",
  "clusteroverridepolicies",
]);
/** A policy may have a thousand selectors and names; the first few wrong ones are enough. */
const MAX_WARNINGS = 10;
const MAX_NAMES = 10;

type Spec = DeepReadonly<
  Partial<Pick<PropagationPolicy["spec"], "placement" | "resourceSelectors"> & OverridePolicy["spec"]>
>;
type Affinity = DeepReadonly<ClusterAffinity> | undefined;

export const policyTargets: AdmissionStep<PropagationPolicy | OverridePolicy> = {
  name: "PolicyTargets",
  for: ({ group, plural, foreign }) => !foreign && group === GROUP && POLICIES.has(plural),
  on: ["CREATE", "UPDATE"],
  // Controllers of this server ignore warnings.
  matches: ({ subresource, byController }) => subresource === undefined && !byController,
  check({ object, read, warn }) {
    const { spec } = object;
    const warnings = [
      ...unservedKinds(read, spec),
      ...unknownClusters(read, spec),
      ...membersWithoutKind(read, spec),
      ...equalPolicies(read, object),
      ...taintsThatMoveNothing(read, object),
      ...blindRules({ spec }),
    ];
    for (const text of warnings.slice(0, MAX_WARNINGS)) warn(text);
  },
};

const unservedKinds = (read: ClusterReader, spec: Spec): string[] =>
  unservedSelectors(read, spec).map(
    ({ index, text }) => `spec.resourceSelectors[${index}]: ${text}; the selector matches nothing until it does`,
  );

/** The kinds that a hub serves. */
export interface ServedKinds {
  /** The versions in which a kind is served; empty if it is not. */
  versions(group: string, kind: string): readonly string[];
  kinds(): Iterable<{ readonly group: string; readonly kind: string }>;
}

/** The selectors of a policy whose kind is not served: `the hub does not serve Wigdet in v1 (did you mean 'Widget'?)`. */
export function unservedSelectors(
  read: ServedKinds,
  { resourceSelectors = [] }: Spec,
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

/** The kinds of the group; for a group that is not served, the kinds of every group. */
function kindsLike(read: ServedKinds, group: string, kind: string): string[] {
  const all = [...read.kinds()].filter((served) => served.kind !== kind || served.group === group);
  const same = all.filter((served) => served.group === group);
  return (same.length > 0 ? same : all).map((served) => served.kind);
}

/** Other policies that select the same objects with the same precedence: only one of them takes effect. */
function equalPolicies(read: ClusterReader, policy: DeepReadonly<PropagationPolicy | OverridePolicy>): string[] {
  const kind = propagationKind(policy);
  if (!kind) return [];
  const { metadata, spec } = policy as DeepReadonly<PropagationPolicy>;
  const ties = findTies({ metadata, spec }, read.written(kind, metadata.namespace), (shared) => {
    const served = [...read.kinds()].find(({ group, kind: name }) => group === shared.group && name === shared.kind);
    const object =
      served &&
      read
        .written<KubernetesObject>(served as KindRef<KubernetesObject>, shared.namespace)
        .find((each) => isShared(shared, each));
    return object && `${object.kind} ${object.metadata.name}`;
  });
  // One for each selector shows what is wrong.
  const first = ties.filter(({ selector }, index) => ties[index - 1]?.selector !== selector);
  return first.map(
    ({ competitor, selector, object = "the same objects" }) =>
      `spec.resourceSelectors[${selector}]: ${kind.kind} ${competitor.metadata.name} also selects ${object} with the ` +
      "same priority; it keeps those that it has claimed, and of the others the policy whose name sorts first claims " +
      "them; set spec.priority",
  );
}

/** Members with a NoExecute taint, on which objects of the policy stay. */
function taintsThatMoveNothing(
  read: ClusterReader,
  policy: DeepReadonly<PropagationPolicy | OverridePolicy>,
): string[] {
  const { metadata, spec } = policy as DeepReadonly<PropagationPolicy>;
  if (!propagationKind(policy) || spec.failover?.cluster) return [];
  const tolerations = spec.placement?.clusterTolerations ?? [];
  const tainted = read.list(Cluster).flatMap((cluster) => {
    const taint = inertTaint(cluster, tolerations);
    return taint ? [{ name: cluster.metadata.name, taint }] : [];
  });
  if (tainted.length === 0) return [];
  const label = metadata.namespace ? POLICY_ID : CLUSTER_POLICY_ID;
  const kinds = metadata.namespace
    ? [ResourceBinding]
    : [ResourceBinding, ClusterResourceBinding as unknown as Kind<ResourceBinding>];
  const own = kinds
    .flatMap((kind) => read.written(kind, metadata.namespace))
    .filter(
      (binding) =>
        binding.metadata.labels?.[label] !== undefined &&
        binding.metadata.labels[label] === metadata.labels?.[label] &&
        !isFinishedRun(binding),
    );
  return tainted.flatMap(({ name, taint }) => {
    const staying = own.filter(
      ({ spec: { clusters = [], gracefulEvictionTasks = [] } }) =>
        clusters.some((target) => target.name === name) &&
        !gracefulEvictionTasks.some(({ fromCluster }) => fromCluster === name),
    ).length;
    if (staying === 0) return [];
    return [
      `spec.failover: ${name} has the taint ${formatTaint(taint)}, and ${staying} object${staying === 1 ? "" : "s"} of ` +
        `this policy ${staying === 1 ? "stays" : "stay"} there, because it has no failover.cluster; add it, or run ` +
        `'flotilla drain ${name}'`,
    ];
  });
}

const propagationKind = ({ kind }: { kind: string }): Kind<PropagationPolicy> | undefined =>
  [PropagationPolicy, ClusterPropagationPolicy as Kind<PropagationPolicy>].find((candidate) => candidate.kind === kind);

/** Members that the placement selects and that do not serve a kind. */
function membersWithoutKind(read: ClusterReader, spec: Spec): string[] {
  const placed = unservingMembers(spec, read.list(Cluster));
  if (placed.length === 0) return [];
  const definitions = new Map(
    read.written(CustomResourceDefinition).map(({ metadata, spec: { group, names } }) => [
      `${group}/${names.kind}`,
      // One that a policy has claimed reaches the members soon.
      { isPropagated: metadata.labels?.[CLUSTER_POLICY_ID] !== undefined },
    ]),
  );
  return placed.flatMap((found) => {
    const { group, version } = parseApiVersion(found.apiVersion);
    const definition = definitions.get(`${group}/${found.kind}`);
    // The kinds that the hub does not serve have warnings of their own.
    if (!read.versions(group, found.kind).includes(version) || definition?.isPropagated) return [];
    return [`${found.at}: ${unservingText(found)}${definition ? " until its CustomResourceDefinition is there" : ""}`];
  });
}

/** Cluster names that no joined cluster has. */
function unknownClusters(read: ClusterReader, spec: Spec): string[] {
  return namedClusters(spec).flatMap(([at, affinity]) => {
    const unknown = unjoinedIn(affinity, (name) => read.get(Cluster, undefined, name) !== undefined);
    if (unknown.length === 0) return [];
    const more = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : "";
    // A name that the list has besides is not what was meant.
    const joined = read
      .list(Cluster)
      .map(({ metadata }) => metadata.name)
      .filter((name) => !affinity?.clusterNames?.includes(name));
    const named = unknown.slice(0, MAX_NAMES).map((name) => `${name}${didYouMean(name, joined)}`);
    return [`${at}.clusterNames: no joined cluster is named ${named.join(", ")}${more}`];
  });
}

const unjoinedIn = (affinity: Affinity, isJoined: (name: string) => boolean): string[] =>
  [...new Set(affinity?.clusterNames)].filter((name) => !isJoined(name));

/** Every cluster that a policy names and that has not joined, or has left. */
export function unjoinedClusters(spec: Spec, isJoined: (name: string) => boolean): string[] {
  return [...new Set(namedClusters(spec).flatMap(([, affinity]) => unjoinedIn(affinity, isJoined)))];
}

/** The names in a placement that can select no member: it selects by name, and none of the names has joined. */
export function namesWithoutMember(spec: Spec, isJoined: (name: string) => boolean): string[] {
  const { clusterAffinity, clusterAffinities = [] } = spec.placement ?? {};
  const terms: Affinity[] = clusterAffinities.length > 0 ? [...clusterAffinities] : [clusterAffinity];
  const names = terms.map((term) => term?.clusterNames ?? []);
  return names.some((list) => list.length === 0 || list.some(isJoined)) ? [] : [...new Set(names.flat())];
}

/** All fields in which a policy can name target clusters. */
function namedClusters({ placement, targetCluster, overrideRules = [] }: Spec): [at: string, affinity: Affinity][] {
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
