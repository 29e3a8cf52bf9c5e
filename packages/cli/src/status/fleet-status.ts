/** The status of a fleet: the data that `-o json` of `flotilla status` prints. */
import type { ControllersState } from "../health/controllers-state.ts";
import type { ReleaseStatus } from "../health/collect-releases.ts";

export interface FleetStatus {
  server: string;
  /** Whether the hub's controllers run, and where; `forMs` is how long they have not. */
  controllers: ControllersState;
  /** The components of the hub, or the pods that represent them in this process, by namespace. */
  components: ComponentsStatus[];
  members: MemberStatus[];
  /** The number of objects of each kind. */
  objects: { bindings: number; works: number; manifestWorks: number; placements: number; replicaSets: number };
  unhealthy: UnhealthySummary;
  /** Releases that have not ended, most of them in progress. */
  releases: ReleaseStatus[];
  workloads: WorkloadStatus[];
  /** Workloads of the hub that no policy has claimed. */
  unselected: Unselected;
  /** Parts of policies that have no effect; unset if they could not be checked. */
  ineffective?: Ineffective | undefined;
  /** The only namespace that was read; unset for all. */
  namespace?: string;
  /** Set if the hub has no such namespace. */
  isNamespaceMissing?: boolean | undefined;
  /** What was looked at, for the sentence that nothing was found. */
  checked: string[];
  /** Kinds that the user may not list, and that are therefore missing. */
  notShown: string[];
  /** What else could not be looked at, with the reason. */
  notChecked: string[];
}

export interface Unselected {
  count: number;
  /** The first ones: `Deployment shop/web`. */
  names: string[];
  /** Their types: `deployments.apps`. */
  types: string[];
}

export interface Ineffective {
  parts: number;
  /** The number of policies that have such parts. */
  policies: number;
  /** What was not looked at. */
  unseen?: readonly string[];
}

export interface ComponentsStatus {
  namespace: string;
  total: number;
  /** The names of components that are not ready. */
  unready: string[];
}

/** A member with its Karmada Cluster and its Open Cluster Management ManagedCluster. */
export interface MemberStatus {
  name: string;
  /** Push: the hub applies works. Pull: an agent on the member does. */
  mode: "push" | "pull";
  /**
   * The condition `Ready` of the Cluster, `NotResponding` while a ready member does not answer, or `NoAgent` when no
   * Karmada agent serves a pull-mode member; unset without a Cluster.
   */
  ready?: string;
  /** Why it is not ready or does not answer. */
  message?: string | undefined;
  /** The condition `ManagedClusterConditionAvailable` of the ManagedCluster; unset without one. */
  available?: string;
  /** Whether the hub accepts the ManagedCluster. */
  accepted?: boolean;
  /** The registrations that are being deleted. */
  leaving?: ("karmada" | "ocm")[];
  version: string;
  /** Ready and total; empty when unknown. */
  nodes: string;
  /** Allocatable resources that are not requested yet. */
  free?: { cpu: string; memory: string };
  taints: string[];
  /** The region of its Cluster, if set. */
  region?: string;
  /** When its agent last renewed a lease; unset for push-mode members. */
  heard?: string;
  /** That is too long ago, so what the hub knows about the member is old. */
  isSilent?: boolean;
  /** How far its agent's clock is ahead of the hub's, negative when it is behind; unset if the difference is harmless. */
  clockAheadMs?: number;
  age: string;
}

export interface RunStatus {
  active: number;
  succeeded: number;
  failed: number;
  /** Pods that the members want, where they report it. */
  desired?: number;
  /** Set when the run is over on every member. */
  finished?: "Complete" | "Failed";
}

export interface WorkloadStatus {
  namespace: string;
  name: string;
  kind: string;
  /** Over all members; unset for objects without replicas, and for kinds that run once. */
  desired: number | undefined;
  /** Unset when unknown. */
  ready: number | undefined;
  /** Pods of the newest version, over all members; unset where the members do not report it. */
  updated?: number | undefined;
  /** Pods of earlier versions: a release is in progress, or a partition holds it. Unset if there are none. */
  outdated?: number | undefined;
  /** What replaces the numbers: of Pods that have ended, and of objects of ManifestWorks that report none. */
  state?: string | undefined;
  /** The numbers of some members are from their last report: they are not ready, or do not apply their latest copy. */
  stale?: boolean;
  /** Pods of a kind that runs once, such as Job, over all members. */
  run?: RunStatus;
  applied: string;
  placement: string;
  /** No policy selects it any longer: it keeps its copies, and the scheduler leaves it as it is. */
  withoutPolicy?: true | undefined;
  /** The policy that propagates it: `shop/web`, or a name without a namespace; unset for objects of ManifestWorks. */
  policy?: string;
}

/** The kinds of problems, phrased for counts: `1 binding not scheduled`. */
export type Problem =
  | "hub without controllers"
  | "check of the hub failed"
  | "program of the hub failing"
  | "component not ready"
  | "member not available"
  | "policy failed"
  | "policy without members"
  | "policy selecting members without the kind"
  | "binding not scheduled"
  | "binding without a policy"
  | "binding without a template"
  | "binding not applied"
  | "workload unhealthy"
  | "ManifestWork unhealthy"
  | "rule failed"
  | "status not written"
  | "binding suspended"
  | "Work failed"
  | "Work waiting for a deletion"
  | "object waiting for a finalizer"
  | "namespace being deleted"
  | "ManifestWork failed"
  | "rollout stopped"
  | "replicas held by a rule"
  | "autoscaler failing"
  | "autoscaler at its maximum"
  | "quota exceeded"
  | "quota without effect"
  | "release failed"
  | "release aborted"
  | "release without progress"
  | "release waiting for a decision"
  | "workload naming missing pods"
  | "Placement unsatisfied";

export interface UnhealthySummary {
  counts: Partial<Record<Problem, number>>;
  /** Single objects, up to a thousand, most important first. */
  worst: UnhealthyObject[];
}

export interface UnhealthyObject {
  problem: Problem;
  kind: string;
  namespace?: string;
  name: string;
  reason: string;
}
