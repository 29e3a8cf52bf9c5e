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
import type { OverridePolicy } from "@flotilla/karmada";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { didYouMean } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { blindRules } from "../override/blind-overriders.ts";
import { isFinishedRun } from "../jobs/finished-run.ts";
import { formatTaint } from "../schedule/tolerations.ts";
import { inertTaint } from "./inert-taints.ts";
import { namedClusters, unjoinedIn, unservedSelectors } from "./policy-targets.ts";
import type { PolicySpec } from "./policy-targets.ts";
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

export const policyWarnings: AdmissionStep<PropagationPolicy | OverridePolicy> = {
  name: "PolicyTargets",
  for: ({ group, plural, foreign }) => !foreign && group === GROUP && POLICIES.has(plural),
  on: ["CREATE", "UPDATE"],
  reads: [Cluster, PropagationPolicy, ClusterPropagationPolicy, CustomResourceDefinition],
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

const unservedKinds = (read: ClusterReader, spec: PolicySpec): string[] =>
  unservedSelectors(read, spec).map(
    ({ index, text }) => `spec.resourceSelectors[${index}]: ${text}; the selector matches nothing until it does`,
  );

/** Other policies that select the same objects with the same precedence: only one of them takes effect. */
function equalPolicies(read: ClusterReader, policy: DeepReadonly<PropagationPolicy | OverridePolicy>): string[] {
  const kind = propagationKind(policy);
  if (!kind) return [];
  const { metadata, spec } = policy as DeepReadonly<PropagationPolicy>;
  const ties = findTies({ metadata, spec }, read.written(kind, metadata.namespace), {
    served: read,
    findObject(shared) {
      const served = [...read.kinds()].find(({ group, kind: name }) => group === shared.group && name === shared.kind);
      const object =
        served &&
        read
          .written<KubernetesObject>(served as KindRef<KubernetesObject>, shared.namespace)
          .find((each) => isShared(shared, each));
      return object && `${object.kind} ${object.metadata.name}`;
    },
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
function membersWithoutKind(read: ClusterReader, spec: PolicySpec): string[] {
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
function unknownClusters(read: ClusterReader, spec: PolicySpec): string[] {
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
