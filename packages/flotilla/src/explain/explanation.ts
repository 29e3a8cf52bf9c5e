/**
 * Explanation: why a resource is placed where it is, in the terms of the components that decided it. It is computed on
 * every read from the hub's current state; only the scheduler's last decision is kept, in memory.
 */
import type { Column, Kind, KubernetesObject, ObjectSource } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import type { DecisionSummary } from "../propagation/schedule/summarise-decision.ts";
import type { FieldChange } from "./field-changes.ts";

export interface ExplainedPolicy {
  kind: string;
  namespace?: string;
  name: string;
  priority: number;
  /** How specifically the policy selects the resource; `nothing` when it does not select it. */
  selectsBy: "name" | "labels" | "kind" | "nothing";
  /** Why the policy claimed the resource, or why it did not. */
  reason: string;
}

export interface ExplainedMember {
  cluster: string;
  /** Unset for resources without replicas. */
  replicas?: number;
  /** `leaving`: the cluster is no longer a target but still has a copy. */
  state: "target" | "leaving";
  /** Fields that replica division changed in this member's copy. */
  divided: FieldChange[];
  /** Fields that override policies changed after division. */
  overridden: FieldChange[];
  overridePolicies: string[];
  applied?: boolean;
  /** Why the copy is not applied: the reason of the Work's condition. */
  reason?: string;
  health?: string;
  /** The message of the member or of the delivery to it. */
  message?: string;
  status?: Json;
  drift?: string;
}

export interface Problem {
  what: string;
  try: string;
}

/** A prioritizer of a Placement, with its score for each cluster. */
export interface ExplainedPrioritizer {
  name: string;
  weight: number;
  scores: Record<string, number>;
}

/** One manifest of a ManifestWork. */
export interface ExplainedManifest {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  /** The update strategy. */
  strategy: string;
  /** Unset until the member has reported on this generation of the work. */
  applied?: boolean;
  /** Whether the object exists on the member; unset when unknown. */
  available?: boolean;
  /** Conditions from condition rules or from built-in knowledge of the kind, e.g. `Progressing: False`. */
  conditions: Record<string, string>;
  /** Values collected by feedback rules. */
  feedback: Record<string, string>;
  message?: string;
  /**
   * The work is being deleted: the object is being removed from the member, or is already removed when it is not
   * available.
   */
  leaving?: true;
  /** The owner of the object on this member through the other API. */
  alsoBy?: string;
}

/** A ManifestWork that contains the object, or that a ManifestWorkReplicaSet created. */
export interface ExplainedWork {
  cluster: string;
  name: string;
  applied?: boolean;
  available?: boolean;
  message?: string;
}

/** Rollout progress of a ManifestWorkReplicaSet on the clusters of one Placement. */
export interface ExplainedRollout {
  placement: string;
  strategy: string;
  /** Number of clusters in each state. */
  counts: Record<string, number>;
  /** Unfinished clusters first. */
  clusters: { cluster: string; state: string; since?: string; work?: string; message?: string }[];
}

export interface Explanation extends KubernetesObject {
  resource: { apiVersion: string; kind: string; namespace?: string; name: string };
  policy?: ExplainedPolicy;
  otherPolicies: ExplainedPolicy[];
  /** Unset when the resource is not scheduled. */
  decision?: DecisionSummary & {
    /**
     * `recorded`: the original decision. `recomputed`: what the scheduler would decide now, because the hub has
     * restarted since or never recorded a decision.
     */
    source: "recorded" | "recomputed";
    at: string;
  };
  members: ExplainedMember[];
  moves: JsonObject[];
  /** Evictions in progress. */
  leaving: { cluster: string; reason: string; producer: string; message?: string; since?: string }[];
  problems: Problem[];
  /** Only for a Placement. */
  prioritizers?: ExplainedPrioritizer[];
  /** Only for a ManifestWork. */
  manifests?: ExplainedManifest[];
  /** Only for a ManifestWorkReplicaSet. */
  rollout?: ExplainedRollout[];
  /** Only for an object that ManifestWorks deliver. */
  works?: ExplainedWork[];
}

const GROUP = "explain.flotilla.dev";
const VERSION = "v1alpha1";
export const EXPLAIN_API_VERSION = `${GROUP}/${VERSION}`;

const free = (description: string): Schema => ({
  type: "object",
  description,
  "x-kubernetes-preserve-unknown-fields": true,
});
const list = (description: string): Schema => ({
  type: "array",
  description,
  items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});
const schema: Schema = {
  type: "object",
  description:
    "Explanation describes why a resource is placed where it is. It has the name that the resource's binding has or would have, and is computed on every read.",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: free("Name and namespace of the binding."),
    resource: free("The resource that is explained."),
    policy: free("The policy that claimed the resource, and why."),
    otherPolicies: list("Policies that select the resource's kind but did not claim it, and why."),
    decision: free(
      "Clusters that the scheduler kept and excluded, with plugin, reason, score, available replicas and assigned replicas.",
    ),
    members: list(
      "Each member's copy: fields changed by division and overrides, and the state reported by the member.",
    ),
    moves: list("The most recent automatic moves, newest last."),
    leaving: list("Evictions in progress."),
    problems: list("Problems, each with a suggested fix."),
    prioritizers: list("For a Placement: the score of each prioritizer for the clusters."),
    manifests: list("For a ManifestWork: the state of each manifest on the member."),
    rollout: list("For a ManifestWorkReplicaSet: rollout progress on the clusters of each Placement."),
    works: list("ManifestWorks that deliver this object to members."),
  },
};
const name: Column = { name: "Name", type: "string", format: "name", jsonPath: ".metadata.name" };
const policy: Column = { name: "Policy", type: "string", jsonPath: ".policy.name" };

const kindOf = (names: Pick<Kind, "kind" | "plural" | "scope">, source?: ObjectSource): Kind<Explanation> => ({
  group: GROUP,
  ...names,
  storageVersion: VERSION,
  versions: { [VERSION]: { schema, columns: [name, policy] } },
  subresources: {},
  // Computing one Explanation runs several planners, so list is not supported.
  verbs: ["get"],
  source,
  builtIn: true,
  hasGeneration: false,
});

const NAMES = { kind: "Explanation", plural: "explanations", scope: "Namespaced" } as const;
const CLUSTER_NAMES = { kind: "ClusterExplanation", plural: "clusterexplanations", scope: "Cluster" } as const;
/** As clients read them: for resources with a ResourceBinding and for resources with a ClusterResourceBinding. */
export const Explanation: Kind<Explanation> = kindOf(NAMES);
export const ClusterExplanation: Kind<Explanation> = kindOf(CLUSTER_NAMES);

/** As the hub serves them. `get` is resolved per request, so that the explainer may be constructed later. */
export function explanationKinds(
  get: (namespace: string | undefined, name: string) => Promise<Explanation | undefined>,
): Kind[] {
  const source: ObjectSource = {
    get: async (_cluster, namespace, asked) => (await get(namespace, asked)) as unknown as JsonObject | undefined,
    list: () => [],
    about: (object) => (object as unknown as Explanation).resource,
  };
  return [kindOf(NAMES, source), kindOf(CLUSTER_NAMES, source)];
}
