/**
 * A policy that selects a kind that is not served, or names a cluster that has not joined, is valid: both may be added
 * later. More often it is a typo and the policy would silently do nothing. So its writer receives a warning.
 */
import { Cluster } from "@flotilla/karmada";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { AdmissionStep, ClusterReader } from "@flotilla/apimachinery";
import type { ClusterAffinity } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

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

type Spec = DeepReadonly<Partial<PropagationPolicy["spec"] & OverridePolicy["spec"]>>;
type Affinity = DeepReadonly<ClusterAffinity> | undefined;

export const policyTargets: AdmissionStep<PropagationPolicy | OverridePolicy> = {
  name: "PolicyTargets",
  for: ({ group, plural }) => group === GROUP && POLICIES.has(plural),
  on: ["CREATE", "UPDATE"],
  // Controllers of this server ignore warnings.
  matches: ({ subresource, byController }) => subresource === undefined && !byController,
  check({ object: { spec }, read, warn }) {
    const warnings = [...unservedKinds(read, spec), ...unknownClusters(read, spec)];
    for (const text of warnings.slice(0, MAX_WARNINGS)) warn(text);
  },
};

function unservedKinds(read: ClusterReader, { resourceSelectors = [] }: Spec): string[] {
  return resourceSelectors.flatMap(({ apiVersion, kind }, index) => {
    const { group, version } = parseApiVersion(apiVersion);
    const served = read.versions(group, kind);
    if (served.includes(version)) return [];
    const elsewhere = served.map((each) => (group ? `${group}/${each}` : each)).join(", ");
    return [
      `spec.resourceSelectors[${index}]: the hub does not serve ${kind} in ${apiVersion}${elsewhere ? `, but in ${elsewhere}` : ""}; the selector matches nothing until it does`,
    ];
  });
}

/** Cluster names that no joined cluster has. */
function unknownClusters(read: ClusterReader, spec: Spec): string[] {
  return namedClusters(spec).flatMap(([at, affinity]) => {
    const unknown = [...new Set(affinity?.clusterNames)].filter((name) => !read.get(Cluster, undefined, name));
    if (unknown.length === 0) return [];
    const more = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : "";
    return [`${at}.clusterNames: no joined cluster is named ${unknown.slice(0, MAX_NAMES).join(", ")}${more}`];
  });
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
