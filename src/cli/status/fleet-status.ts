/** What `flotilla status` knows of a fleet: the data that `-o json` prints. */
export interface FleetStatus {
  server: string;
  /** The programs that make the hub work, or the parts of ours that stand for them, by namespace. */
  components: ComponentsStatus[];
  members: MemberStatus[];
  /** How many objects of each kind there are. */
  objects: { bindings: number; works: number; manifestWorks: number; placements: number; replicaSets: number };
  unwell: Unwell;
  workloads: WorkloadStatus[];
  /** What the user may not list, so that nothing is said of it. */
  notShown: string[];
}

export interface ComponentsStatus {
  namespace: string;
  total: number;
  /** The names of those that are not ready. */
  unready: string[];
}

/** A member with both its faces: Karmada's Cluster and Open Cluster Management's ManagedCluster. */
export interface MemberStatus {
  name: string;
  /** Who carries: the hub, or an agent on the member. */
  mode: "push" | "pull";
  /**
   * The condition `Ready` of the Cluster, or `NoAgent` when nobody serves that face of a member that pulls; unset when
   * there is no Cluster.
   */
  ready?: string;
  /** The condition `ManagedClusterConditionAvailable` of the ManagedCluster; unset when there is none. */
  available?: string;
  /** Whether the hub accepts the ManagedCluster. */
  accepted?: boolean;
  /** The faces that are being deleted. */
  leaving?: ("karmada" | "ocm")[];
  version: string;
  /** Ready and all; empty when nobody counts them. */
  nodes: string;
  /** What pods could still ask for. */
  free?: { cpu: string; memory: string };
  taints: string[];
  /** When its agent renewed a lease last; the hub looks after members that it reaches itself. */
  heard?: string;
  age: string;
}

export interface WorkloadStatus {
  namespace: string;
  name: string;
  kind: string;
  /** Over all members; unset for what runs no replicas. */
  desired: number | undefined;
  ready: number;
  applied: string;
  placement: string;
}

/** What is wrong, in words for counting: `1 binding not scheduled`. */
export type Trouble =
  | "check of the hub failed"
  | "member not available"
  | "binding not scheduled"
  | "binding not applied"
  | "Work failed"
  | "ManifestWork failed"
  | "rollout stopped"
  | "Placement unsatisfied";

export interface Unwell {
  counts: Partial<Record<Trouble, number>>;
  /** One by one, up to a thousand; what matters most comes first. */
  worst: UnwellObject[];
}

export interface UnwellObject {
  trouble: Trouble;
  kind: string;
  namespace?: string;
  name: string;
  reason: string;
}
