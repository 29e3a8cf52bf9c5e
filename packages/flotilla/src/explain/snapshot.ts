/** An immutable snapshot of a hub: everything that the pipeline decides from. */
import {
  Cluster,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  FederatedResourceQuota,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { PriorityClass } from "@flotilla/kubernetes";
import { Rollout } from "@flotilla/openkruise";
import { HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createPolicyIndex } from "../propagation/match/policy-index.ts";
import { createRenderer } from "../propagation/override/renderer.ts";
import { createWorkloadGroups } from "../propagation/schedule/workload-groups.ts";
import { heldWorksOfBinding, indexWorks, worksOfBinding } from "../propagation/works/work-index.ts";
import { createQuotaRoom } from "../quota/quota-room.ts";
import type { PlannedQuotaRoom } from "../quota/quota-room.ts";
import type { LocatePods } from "../membership/locate-pods.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { FleetRollout } from "../rollout/kinds/fleet-rollout.ts";
import { RolloutStrategy } from "../rollout/kinds/rollout-strategy.ts";
import { createReleaseIndex } from "../rollout/release-index.ts";
import type { ReleaseIndex } from "../rollout/release-index.ts";
import { createStaticInformer } from "./static-informer.ts";

export interface FleetSnapshot {
  readonly clusters: readonly DeepReadonly<Cluster>[];
  readonly policies: readonly DeepReadonly<PropagationPolicy>[];
  readonly clusterPolicies: readonly DeepReadonly<ClusterPropagationPolicy>[];
  readonly overridePolicies: readonly DeepReadonly<OverridePolicy>[];
  readonly clusterOverridePolicies: readonly DeepReadonly<ClusterOverridePolicy>[];
  readonly priorityClasses: readonly DeepReadonly<PriorityClass>[];
  readonly bindings: readonly DeepReadonly<ResourceBinding>[];
  readonly clusterBindings: readonly DeepReadonly<ResourceBinding>[];
  readonly works: readonly DeepReadonly<Work>[];
  readonly quotas: readonly DeepReadonly<FederatedResourceQuota>[];
  readonly rollouts: readonly DeepReadonly<FleetRollout>[];
  readonly strategies: readonly DeepReadonly<RolloutStrategy>[];
  readonly leads: readonly DeepReadonly<Rollout>[];
  /** Objects of the kinds that policies and bindings reference; one object may be present in several versions. */
  readonly templates: readonly Template[];
  /** The stored objects of templates that the snapshot changes; unset if it changes none. */
  readonly stored?: readonly Template[];
  /** Kinds in versions that policies and bindings reference and the hub does not serve. */
  readonly unserved?: readonly { readonly apiVersion: string; readonly kind: string }[];
}

/** The kinds of a snapshot other than templates. */
export const SNAPSHOT_KINDS = {
  clusters: Cluster,
  policies: PropagationPolicy,
  clusterPolicies: ClusterPropagationPolicy,
  overridePolicies: OverridePolicy,
  clusterOverridePolicies: ClusterOverridePolicy,
  priorityClasses: PriorityClass,
  bindings: ResourceBinding,
  clusterBindings: ClusterResourceBinding as unknown as Kind<ResourceBinding>,
  works: Work,
  quotas: FederatedResourceQuota,
  rollouts: FleetRollout,
  strategies: RolloutStrategy,
  leads: Rollout,
} as const satisfies Record<Exclude<keyof FleetSnapshot, "templates" | "stored" | "unserved">, unknown>;

/** Key of an object within its kind, independent of the API version. */
export const placeOf = ({ metadata: { namespace = "", name } }: DeepReadonly<KubernetesObject>): string =>
  `${namespace}/${name}`;

/** Which revision each member may have, by the releases of the snapshot. */
export const releasesOf = (
  { rollouts, strategies, leads }: Pick<FleetSnapshot, "rollouts" | "strategies" | "leads">,
  hub = HUB,
): ReleaseIndex =>
  createReleaseIndex({
    hub,
    rollouts: createStaticInformer(FleetRollout, rollouts),
    strategies: createStaticInformer(RolloutStrategy, strategies),
    leads: createStaticInformer(Rollout, leads),
  });

const askNone: LocatePods = (_owner, clusters) => Promise.resolve({ found: new Map(), unasked: clusters });

export interface SnapshotViews extends PlanningViews {
  quotaRoom: PlannedQuotaRoom;
}

/** `locatePods` asks members; a snapshot has no pods, so without it named pods are reported as not asked for. */
export function viewsOf(snapshot: FleetSnapshot, hub = HUB, locatePods: LocatePods = askNone): SnapshotViews {
  const clusters = createStaticInformer(Cluster, snapshot.clusters);
  const overridePolicies = createStaticInformer(OverridePolicy, snapshot.overridePolicies);
  const clusterOverridePolicies = createStaticInformer(ClusterOverridePolicy, snapshot.clusterOverridePolicies);
  const works = createStaticInformer(Work, snapshot.works);
  indexWorks(works);
  const bindings = createStaticInformer(SNAPSHOT_KINDS.bindings, snapshot.bindings);
  const groups = createWorkloadGroups();
  for (const binding of [...snapshot.bindings, ...snapshot.clusterBindings]) groups.see(hub, binding);
  const templates = new Map(
    snapshot.templates.map((template) => [`${template.apiVersion}/${template.kind}/${placeOf(template)}`, template]),
  );
  const unserved = new Set((snapshot.unserved ?? []).map(({ apiVersion, kind }) => `${apiVersion}/${kind}`));
  return {
    hub,
    policies: createPolicyIndex(
      hub,
      createStaticInformer(PropagationPolicy, snapshot.policies),
      createStaticInformer(ClusterPropagationPolicy, snapshot.clusterPolicies),
      { isServed: ({ apiVersion, kind }) => Promise.resolve(!unserved.has(`${apiVersion}/${kind}`)) },
    ),
    bindings,
    quotaRoom: createQuotaRoom({
      hub,
      quotas: createStaticInformer(FederatedResourceQuota, snapshot.quotas),
      bindings,
    }),
    clusterBindings: createStaticInformer(SNAPSHOT_KINDS.clusterBindings, snapshot.clusterBindings),
    overridePolicies,
    clusterOverridePolicies,
    priorityClasses: createStaticInformer(PriorityClass, snapshot.priorityClasses),
    clusters,
    groups,
    // Existing bindings show whether the hub counts components.
    scheduling: {
      multiplePodTemplatesScheduling: [...snapshot.bindings, ...snapshot.clusterBindings].some(
        ({ spec }) => spec.components !== undefined,
      ),
    },
    locatePods,
    worksOf: (binding) => worksOfBinding(works, binding),
    heldWorksOf: (binding, own) => heldWorksOfBinding(works, hub, binding, own),
    render: createRenderer({ hub, clusters, overridePolicies, clusterOverridePolicies }),
    templates: {
      get: ({ apiVersion, kind, namespace = "", name }) =>
        Promise.resolve(templates.get(`${apiVersion}/${kind}/${namespace}/${name}`)),
    },
  };
}
