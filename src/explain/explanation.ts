/**
 * Explanation: why a resource is where it is, in the words of those who decided it. It is made up on every read from
 * what the hub has at that moment; only the scheduler's last decision is remembered, while the hub runs.
 */
import type { Column, Kind, KubernetesObject, ObjectSource } from "../api/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import type { Schema } from "../machinery/index.ts";
import type { DecisionSummary } from "../propagation/index.ts";
import type { FieldChange } from "./field-changes.ts";

export interface ExplainedPolicy {
  kind: string;
  namespace?: string;
  name: string;
  priority: number;
  /** How specifically it selects the resource; `nothing` when it does not. */
  selectsBy: "name" | "labels" | "kind" | "nothing";
  /** Why it has the resource, or why it has not. */
  reason: string;
}

export interface ExplainedMember {
  cluster: string;
  /** Unset for what runs no replicas. */
  replicas?: number;
  /** `leaving`: it is no target any more and still has a copy. */
  state: "target" | "leaving";
  /** What dividing the template changed in this member's copy. */
  divided: FieldChange[];
  /** What override policies changed after that. */
  overridden: FieldChange[];
  overridePolicies: string[];
  applied?: boolean;
  /** Why it is not applied, in the word of the Work's condition. */
  reason?: string;
  health?: string;
  /** What the member, or the delivery to it, has to say. */
  message?: string;
  status?: Json;
  drift?: string;
}

export interface Problem {
  what: string;
  try: string;
}

/** A score of a Placement, with what it gave to the clusters that were scored. */
export interface ExplainedPrioritizer {
  name: string;
  weight: number;
  scores: Record<string, number>;
}

/** One object of a ManifestWork. */
export interface ExplainedManifest {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  /** How it is updated. */
  strategy: string;
  /** Unset while the member has not said anything of this version of the work. */
  applied?: boolean;
  /** Whether the member has it; unset when nobody knows. */
  available?: boolean;
  /** Conditions that rules, or what is known of the kind, made: `Progressing: False`. */
  conditions: Record<string, string>;
  /** Values that feedback rules asked for. */
  feedback: Record<string, string>;
  message?: string;
  /** Its work is being deleted: it goes from the member, or is gone when it is not available. */
  leaving?: true;
  /** Who has it on this member by the other API. */
  alsoBy?: string;
}

/** A ManifestWork that has the object, or that a ManifestWorkReplicaSet made. */
export interface ExplainedWork {
  cluster: string;
  name: string;
  applied?: boolean;
  available?: boolean;
  message?: string;
}

/** How far the clusters of one Placement have come with what a ManifestWorkReplicaSet brings. */
export interface ExplainedRollout {
  placement: string;
  strategy: string;
  /** How many clusters are in each state. */
  counts: Record<string, number>;
  /** Those that are not through first. */
  clusters: { cluster: string; state: string; since?: string; work?: string; message?: string }[];
}

export interface Explanation extends KubernetesObject {
  resource: { apiVersion: string; kind: string; namespace?: string; name: string };
  policy?: ExplainedPolicy;
  otherPolicies: ExplainedPolicy[];
  /** Unset when it is not scheduled. */
  decision?: DecisionSummary & {
    /**
     * `recorded`: what was decided then. `recomputed`: what would be decided now; the hub has started since, or never
     * recorded it.
     */
    source: "recorded" | "recomputed";
    at: string;
  };
  members: ExplainedMember[];
  moves: JsonObject[];
  /** Orders to leave a cluster that are under way. */
  leaving: { cluster: string; reason: string; producer: string; message?: string; since?: string }[];
  problems: Problem[];
  /** Of a Placement. */
  prioritizers?: ExplainedPrioritizer[];
  /** Of a ManifestWork. */
  manifests?: ExplainedManifest[];
  /** Of a ManifestWorkReplicaSet. */
  rollout?: ExplainedRollout[];
  /** Of an object that ManifestWorks bring to members. */
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
    "Explanation says why a resource is where it is. It has the name that the resource's binding has or would have, and is made up on every read.",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: free("Name and namespace of the binding."),
    resource: free("The resource that this is about."),
    policy: free("The policy that the resource belongs to, and why."),
    otherPolicies: list("Policies that select its kind and do not have it, and why."),
    decision: free("Which clusters the scheduler kept and refused, with plugin, reason, score, room and share."),
    members: list("Each member's copy: what dividing and overrides changed, and what the member says."),
    moves: list("The last automatic moves, the newest last."),
    leaving: list("Orders to leave a cluster that are under way."),
    problems: list("What is wrong, and what to try."),
    prioritizers: list("Of a Placement: what each score gave to the clusters."),
    manifests: list("Of a ManifestWork: what became of each object on the member."),
    rollout: list("Of a ManifestWorkReplicaSet: how far the clusters of each Placement have come."),
    works: list("ManifestWorks that bring this object to members."),
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
  // One costs a few runs of the planners, so nobody gets all of them at once.
  verbs: ["get"],
  source,
  builtIn: true,
  hasGeneration: false,
});

const NAMES = { kind: "Explanation", plural: "explanations", scope: "Namespaced" } as const;
const CLUSTER_NAMES = { kind: "ClusterExplanation", plural: "clusterexplanations", scope: "Cluster" } as const;
/** As clients read them: for what has a ResourceBinding, and for what has a ClusterResourceBinding. */
export const Explanation: Kind<Explanation> = kindOf(NAMES);
export const ClusterExplanation: Kind<Explanation> = kindOf(CLUSTER_NAMES);

/** As the hub serves them; `get` is asked when somebody reads, so that what answers may be put together later. */
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
