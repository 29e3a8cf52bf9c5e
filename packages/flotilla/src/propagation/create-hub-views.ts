/**
 * The planning views of a running hub: what the stages of the pipeline read, and what an explanation of their decisions
 * reads in a process that runs no stages.
 *
 * Reads: policies, overrides, bindings, Works, Clusters, PriorityClasses, FederatedResourceQuotas, and templates of every kind that a policy or a
 * binding names.
 * Writes: nothing.
 */
import {
  Cluster,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  FederatedResourceQuota,
  OverridePolicy,
  PropagationPolicy,
  Work,
} from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition, PriorityClass } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { Informer, Informers } from "@flotilla/controller-runtime";
import { createQuotaRoom } from "../quota/quota-room.ts";
import type { LocatePods } from "../membership/locate-pods.ts";
import { clusterScope, namespacedScope } from "./bindings/binding-scope.ts";
import { createPolicyIndex } from "./match/policy-index.ts";
import { createRenderer } from "./override/renderer.ts";
import type { PlanningViews } from "./planning-views.ts";
import type { ScheduleOptions } from "./schedule/schedule-cycle.ts";
import { createWorkloadGroups, followBindings } from "./schedule/workload-groups.ts";
import { createTemplates } from "./templates/templates.ts";
import type { Templates } from "./templates/templates.ts";
import { heldWorksOfBinding, indexWorks, worksOfBinding } from "./works/work-index.ts";

export interface HubViewsDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  /** Informers of the hub. */
  informers: Informers;
  /** Discovers the kinds of templates. */
  client: Client;
  /** Scheduler options that differ from Karmada's defaults. */
  scheduling?: ScheduleOptions;
  /** Asks members which pods they have. */
  locatePods: LocatePods;
  clock: Clock;
  log: Log;
}

export interface HubViews extends PlanningViews {
  clusters: Informer<Cluster>;
  worksOf(binding: DeepReadonly<ResourceBinding>): DeepReadonly<Work>[];
  templates: Templates;
}

export function createHubViews({
  hub,
  informers,
  client,
  scheduling = {},
  locatePods,
  clock,
  log,
}: HubViewsDependencies): HubViews {
  const bindings = informers.of<ResourceBinding>(namespacedScope.kind);
  const clusterBindings = informers.of<ResourceBinding>(clusterScope.kind);
  const works = informers.of(Work);
  const clusters = informers.of(Cluster);
  const policies = informers.of(PropagationPolicy);
  const clusterPolicies = informers.of(ClusterPropagationPolicy);
  const overridePolicies = informers.of(OverridePolicy);
  const clusterOverridePolicies = informers.of(ClusterOverridePolicy);
  indexWorks(works);
  const groups = createWorkloadGroups();
  for (const informer of [bindings, clusterBindings]) followBindings(groups, informer);
  const templates = createTemplates({
    hub,
    informers,
    kinds: createKindResolver({ client, cluster: hub }),
    policies: [policies, clusterPolicies],
    bindings: [bindings, clusterBindings],
    definitions: informers.of(CustomResourceDefinition),
    clock,
    log,
  });
  return {
    hub,
    policies: createPolicyIndex(hub, policies, clusterPolicies, templates),
    bindings,
    clusterBindings,
    overridePolicies,
    clusterOverridePolicies,
    priorityClasses: informers.of(PriorityClass),
    clusters,
    groups,
    scheduling,
    locatePods,
    worksOf: (binding) => worksOfBinding(works, binding),
    heldWorksOf: (binding, own) => heldWorksOfBinding(works, hub, binding, own),
    quotaRoom: createQuotaRoom({ hub, quotas: informers.of(FederatedResourceQuota), bindings }),
    render: createRenderer({ hub, clusters, overridePolicies, clusterOverridePolicies }),
    templates,
  };
}
