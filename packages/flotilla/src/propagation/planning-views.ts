/**
 * The inputs of the pipeline's planners, for callers that are not stages: `explain` runs them on a running hub with
 * these views, and on a snapshot with its own.
 */
import type { Cluster, ResourceBinding, Work } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Lister } from "@flotilla/controller-runtime";
import type { QuotaRoom } from "../quota/quota-room.ts";
import type { LocatePods } from "../membership/locate-pods.ts";
import type { PolicyIndex } from "./match/policy-index.ts";
import type { PrerequisiteListers } from "./match/prerequisites.ts";
import type { Rendered } from "./override/renderer.ts";
import type { ScheduleOptions } from "./schedule/schedule-cycle.ts";
import type { WorkloadGroups } from "./schedule/workload-groups.ts";
import type { Templates } from "./templates/templates.ts";

export interface PlanningViews extends PrerequisiteListers {
  hub: string;
  policies: PolicyIndex;
  bindings: Lister<ResourceBinding>;
  clusterBindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  /** Groups of the bindings of both scopes. */
  groups: WorkloadGroups;
  scheduling: ScheduleOptions;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  /** Deleted Works whose object a finalizer holds on a target of the binding; `own` are its Works. */
  heldWorksOf(
    binding: DeepReadonly<ResourceBinding>,
    own: readonly DeepReadonly<Work>[],
  ): readonly DeepReadonly<Work>[];
  render(copy: DeepReadonly<KubernetesObject>, cluster: string): Rendered;
  templates: Pick<Templates, "get">;
  locatePods: LocatePods;
  /** The FederatedResourceQuotas of the hub. */
  quotaRoom: QuotaRoom;
}
