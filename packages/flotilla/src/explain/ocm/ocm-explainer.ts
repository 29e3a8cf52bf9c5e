/**
 * Explains Open Cluster Management objects of a running hub, and objects that they deliver to members.
 *
 * Reads: Placement, ManifestWork, ManifestWorkReplicaSet and their inputs; bindings, to find other owners of an object.
 * Writes: nothing.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import {
  ManagedCluster,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PLACEMENT_LABEL,
  PlacementDecision,
  REPLICA_SET_LABEL,
} from "@flotilla/ocm";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { formatTime, type Clock, type DeepReadonly } from "@flotilla/base";
import { decidedBy, type Verdict } from "../../ocm/replicaset/decided.ts";
import { ownerValue } from "../../ocm/replicaset/child-works.ts";
import { type PlacementSources } from "../../ocm/placement/sources.ts";
import { type PlanningViews } from "../../propagation/planning-views.ts";
import type { Informers } from "@flotilla/controller-runtime";
import { EXPLAIN_API_VERSION, type ExplainedWork, type Explanation, type Problem } from "../explanation.ts";
import { findDeliveringWorks } from "./delivering-works.ts";
import { explainPlacement } from "./explain-placement.ts";
import { explainReplicaSet } from "./explain-replica-set.ts";
import { explainOneOf, explainWork, type WorkViews } from "./explain-work.ts";
import { whyUnavailable } from "../../ocm/why-unavailable.ts";
import { verdictOn } from "./work-verdict.ts";
import { bindingName, CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE } from "@flotilla/karmada";

export interface OcmExplainerDependencies {
  hub: string;
  /** Informers of the hub. */
  informers: Informers;
  placements: PlacementSources;
  views: Pick<PlanningViews, "bindings" | "clusterBindings" | "clusters">;
  clock: Clock;
}

/** An object that ManifestWorks deliver, with what is wrong on its members. */
interface CarriedObject {
  resource: Explanation["resource"];
  works: ExplainedWork[];
  problems: Problem[];
}

export interface OcmExplainer {
  /** Takes the name that a binding of the object would have; returns undefined for every other kind. */
  get(namespace: string | undefined, name: string): Explanation | undefined;
  /** The object of this name (and group, if given) that ManifestWorks deliver to members, if any. */
  carried(namespace: string | undefined, name: string, group?: string): CarriedObject | undefined;
}

/** Members that a problem names; more are counted. */
const MAX_CLUSTERS = 3;

/** The fields of an explanation without policies. */
const EMPTY_EXPLANATION = { otherPolicies: [], members: [], moves: [], leaving: [] };

export function explanationOf(resource: Explanation["resource"], nowMs: number): Omit<Explanation, "problems"> {
  const { kind, namespace, name } = resource;
  return {
    apiVersion: EXPLAIN_API_VERSION,
    kind: namespace ? "Explanation" : "ClusterExplanation",
    metadata: {
      name: bindingName(kind, name),
      namespace: namespace || undefined,
      creationTimestamp: formatTime(nowMs),
    },
    resource,
    ...EMPTY_EXPLANATION,
  };
}

/** The same problem on several members is one problem. */
function problemsByCluster(found: readonly { cluster: string; problem: Problem }[]): Problem[] {
  const groups = Map.groupBy(found, ({ problem: { what } }) => what);
  return Array.from(groups, ([what, group]) => {
    const names = group.map(({ cluster }) => cluster);
    const more = names.length > MAX_CLUSTERS ? ` and ${names.length - MAX_CLUSTERS} more` : "";
    return {
      what: `${names.slice(0, MAX_CLUSTERS).join(", ")}${more}: ${what}`,
      try: group[0]?.problem.try ?? "",
    };
  });
}

export function createOcmExplainer(deps: OcmExplainerDependencies): OcmExplainer {
  const { hub, informers, placements: sources, views, clock } = deps;
  const [placements, works, sets, clusters, decisions] = [
    informers.of(OcmPlacement),
    informers.of(ManifestWork),
    informers.of(ManifestWorkReplicaSet),
    informers.of(ManagedCluster),
    informers.of(PlacementDecision),
  ] as const;
  const headOf = <T extends KubernetesObject>(
    { group, storageVersion, kind }: Kind<T>,
    { metadata: { namespace, name } }: DeepReadonly<T>,
  ): Omit<Explanation, "problems"> =>
    explanationOf(
      { apiVersion: `${group}/${storageVersion}`, kind, namespace: namespace || undefined, name },
      clock.now(),
    );

  const verdictOf = (namespace: string, name: string): Verdict =>
    decidedBy(
      placements.get({ cluster: hub, namespace, name }),
      decisions.list({ cluster: hub, namespace }).filter(({ metadata }) => metadata.labels?.[PLACEMENT_LABEL] === name),
    );

  /** The binding that delivers an object to a cluster, and its policy. */
  function bindingOf(
    cluster: string,
    { apiVersion, kind, namespace, name }: { apiVersion: string; kind: string; namespace?: string; name: string },
  ): string | undefined {
    const key = { cluster: hub, namespace: namespace || undefined, name: bindingName(kind, name) };
    const binding = (namespace ? views.bindings : views.clusterBindings).get(key);
    if (
      !binding?.spec.clusters?.some((target) => target.name === cluster) ||
      parseApiVersion(binding.spec.resource.apiVersion).group !== parseApiVersion(apiVersion).group
    )
      return undefined;
    const { annotations = {} } = binding.metadata;
    const [policy, clusterPolicy] = [annotations[POLICY_NAME], annotations[CLUSTER_POLICY_NAME]];
    if (policy !== undefined) return `PropagationPolicy ${annotations[POLICY_NAMESPACE] ?? ""}/${policy}`;
    return clusterPolicy === undefined
      ? `${binding.kind} ${namespace ? `${namespace}/` : ""}${key.name}`
      : `ClusterPropagationPolicy ${clusterPolicy}`;
  }

  const viewsOf = (cluster: string): WorkViews => ({
    managedCluster: clusters.get({ cluster: hub, name: cluster }),
    cluster: views.clusters.get({ cluster: hub, name: cluster }),
    nowMs: clock.now(),
    otherOwner: (object) => bindingOf(cluster, object),
  });

  const explainers: { kind: string; explain(namespace: string, name: string): Explanation | undefined }[] = [
    {
      kind: OcmPlacement.kind,
      explain(namespace, name) {
        const placement = placements.get({ cluster: hub, namespace, name });
        return (
          placement && {
            ...headOf(OcmPlacement, placement),
            ...explainPlacement(placement, sources.inputOf(placement, clock.now())),
          }
        );
      },
    },
    {
      kind: ManifestWork.kind,
      explain(namespace, name) {
        const work = works.get({ cluster: hub, namespace, name });
        return (
          work && {
            ...headOf(ManifestWork, work),
            ...explainWork(work, viewsOf(namespace)),
          }
        );
      },
    },
    {
      kind: ManifestWorkReplicaSet.kind,
      explain(namespace, name) {
        const set = sets.get({ cluster: hub, namespace, name });
        if (!set) return undefined;
        const owner = ownerValue(set);
        const own = [...works.list({ cluster: hub })].filter(
          ({ metadata }) => metadata.labels?.[REPLICA_SET_LABEL] === owner,
        );
        return {
          ...headOf(ManifestWorkReplicaSet, set),
          ...explainReplicaSet(set, {
            verdictOf: (placement) => verdictOf(namespace, placement),
            works: own,
            whyAway: (name) => whyUnavailable(clusters.get({ cluster: hub, name })),
            nowMs: clock.now(),
          }),
        };
      },
    },
  ];

  return {
    get(namespace, asked) {
      if (namespace === undefined) return undefined;
      for (const { kind, explain } of explainers) {
        const suffix = `-${kind.toLowerCase()}`;
        const found = asked.endsWith(suffix) ? explain(namespace, asked.slice(0, -suffix.length)) : undefined;
        if (found) return found;
      }
      return undefined;
    },
    carried(namespace, asked, group) {
      const found = findDeliveringWorks(works.list({ cluster: hub }), namespace, asked, group);
      if (!found) return undefined;
      const each = found.deliveries.map(({ work, ordinal }) => {
        const { namespace: cluster = "" } = work.metadata;
        const { manifest, problems } = explainOneOf(work, ordinal, viewsOf(cluster));
        const { unhealthy, unhealthySince } = manifest;
        return { work: { ...verdictOn(work), unhealthy, unhealthySince }, problems };
      });
      return {
        resource: found.resource,
        works: each.map(({ work }) => work),
        problems: problemsByCluster(
          each.flatMap(({ work: { cluster }, problems }) => problems.map((problem) => ({ cluster, problem }))),
        ),
      };
    },
  };
}
