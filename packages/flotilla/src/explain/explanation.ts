/**
 * Explanation: why a resource is placed where it is, in the terms of the components that decided it. It is computed on
 * every read from the hub's current state; only the scheduler's last decision is kept, in memory.
 */
import { ownKind, s } from "@flotilla/apimachinery";
import type { Kind, ObjectSource } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { DecisionSummary } from "../propagation/schedule/summarise-decision.ts";

const explainedPolicy = {
  kind: s.string("The kind of the policy."),
  namespace: s.optional(s.string("The namespace of the policy; unset for a cluster-scoped one.")),
  name: s.string("The name of the policy."),
  priority: s.integer("The priority of the policy."),
  selectsBy: s.string("How specifically the policy selects the resource; `nothing` when it does not select it.", {
    enum: ["name", "labels", "kind", "nothing"],
  }),
  reason: s.string("Why the policy claimed the resource, or why it did not."),
};
const policy = s.object("The policy that claimed the resource, and why.", explainedPolicy);
export type ExplainedPolicy = s.Infer<typeof policy>;

const fieldChange = s.object({
  path: s.string("The path of the field: `spec.template.spec.containers[web].image`."),
  before: s.optional(s.json("The value before; unset where the field was absent.")),
  after: s.optional(s.json("The value after; unset where the field is absent.")),
});

const requirer = s.object({
  kind: s.optional(s.string("The kind of the workload; unset when only its binding is known.")),
  namespace: s.optional(s.string("The namespace of the workload.")),
  name: s.string("The name of the workload, or of its binding when only that is known."),
  clusters: s.array("The members that run the workload, and so have a copy.", s.string("The name of a member.")),
});

const member = s.object({
  cluster: s.string("The name of the member."),
  replicas: s.optional(s.integer("The replicas of the copy; unset for resources without replicas.")),
  state: s.string("`leaving`: the cluster is no longer a target but still has a copy.", {
    enum: ["target", "leaving"],
  }),
  divided: s.array("Fields that replica division changed in this member's copy.", fieldChange),
  overridden: s.array("Fields that override policies changed after division.", fieldChange),
  overridePolicies: s.array("The override policies that apply to the copy.", s.string("The name of a policy.")),
  blindOverrides: s.optional(
    s.array("What override policies change nothing with, and what to write instead.", s.string("A sentence.")),
  ),
  applied: s.optional(s.boolean("Whether the copy is applied; unset when unknown.")),
  reason: s.optional(s.string("Why the copy is not applied: the reason of the Work's condition.")),
  health: s.optional(s.string("The health of the copy, by the rule of its kind.")),
  unhealthy: s.optional(
    s.string("What is wrong with the copy on the member, from the condition `Healthy` of its Work."),
  ),
  held: s.optional(
    s.string("Which pods keep the previous template, although nothing is wrong: OnDelete or a partition."),
  ),
  unhealthySince: s.optional(s.time("Since when nothing has improved.")),
  unhealthyReason: s.optional(s.string("The reason in one word, as in the condition `Healthy` of the Work.")),
  failedRule: s.optional(s.string("The interpreter rule that failed, so that the health is unknown.")),
  message: s.optional(s.string("The message of the member or of the delivery to it.")),
  status: s.optional(s.json("The status that the member reported.")),
  stale: s.optional(
    s.boolean(
      "The reported status may be outdated: the member is not ready or unreachable, no longer serves the kind, or its status cannot be read.",
    ),
  ),
  drift: s.optional(s.string("How the copy on the member differs from the delivered one.")),
  onMember: s.optional(
    s.array(
      "Fields that have another value on the member than in its copy, although it is not drift: `before` is the copy's value, `after` the member's.",
      fieldChange,
    ),
  ),
  ruleGives: s.optional(
    s.array(
      "Fields to which the Retain rule gives a value that the member does not have: `before` is the member's value, `after` the rule's.",
      fieldChange,
    ),
  ),
  onMemberBy: s.optional(s.string("The user's object whose Retain rule keeps or sets these values.")),
  ruleSets: s.optional(
    s.array("The paths of these fields to which the rule gives a value of its own.", s.string("The path of a field.")),
  ),
  autoscaler: s.optional(
    s.object("The autoscaler on the member that decides the replicas there, if they are not those of the copy.", {
      name: s.string("Its kind and name."),
      asked: s.integer("The replicas of the copy."),
      replicas: s.integer("The replicas of the member's object."),
    }),
  ),
  webhookConfiguration: s.optional(
    s.string("The kind and name of the configuration of a webhook that the member could not call for the copy."),
  ),
  failedRules: s.optional(
    s.array("Interpreter rules that fail for the member's object.", s.string("The message of the failure.")),
  ),
  release: s.optional(
    s.object("What the release in progress gives the member.", {
      wave: s.optional(s.string("The wave that reaches it first.")),
      revision: s.string("The FleetRollout whose revision the member gets."),
      state: s.string("Where the member is in the release."),
      updated: s.integer("Pods that run the revision of the release."),
      behind: s.optional(s.string("Why it does not have the revision of the release on all of its pods.")),
    }),
  ),
});
export type ExplainedMember = s.Infer<typeof member>;

const problem = s.object({
  what: s.string("What is wrong."),
  try: s.string("What to do."),
});
export type Problem = s.Infer<typeof problem>;

const prioritizer = s.object({
  name: s.string("The name of the prioritizer."),
  weight: s.integer("The weight of its scores."),
  scores: s.map("The score of each cluster.", s.number("A score.")),
});
export type ExplainedPrioritizer = s.Infer<typeof prioritizer>;

const manifest = s.object({
  apiVersion: s.string("The version of the object."),
  kind: s.string("The kind of the object."),
  namespace: s.optional(s.string("The namespace of the object.")),
  name: s.string("The name of the object."),
  strategy: s.string("The update strategy."),
  applied: s.optional(
    s.boolean("Whether the manifest is applied. Unset until the member has reported on this generation of the work."),
  ),
  available: s.optional(s.boolean("Whether the object exists on the member; unset when unknown.")),
  conditions: s.map(
    "Conditions from condition rules or from built-in knowledge of the kind, such as `Progressing: False`.",
    s.string("The status of the condition."),
  ),
  feedback: s.map("Values collected by feedback rules.", s.string("A value.")),
  unhealthy: s.optional(s.string("What is wrong with the object: it is degraded, or not up to date.")),
  unhealthySince: s.optional(s.time("Since when.")),
  message: s.optional(s.string("The message of the member.")),
  leaving: s.optional(
    s.boolean(
      "The work is being deleted: the object is being removed from the member, or is already removed when it is not available.",
    ),
  ),
  alsoBy: s.optional(s.string("The owner of the object on this member through the other API.")),
});
export type ExplainedManifest = s.Infer<typeof manifest>;

const work = s.object({
  cluster: s.string("The name of the member."),
  name: s.string("The name of the ManifestWork."),
  applied: s.optional(s.boolean("Whether the work is applied; unset when unknown.")),
  available: s.optional(s.boolean("Whether its objects exist on the member; unset when unknown.")),
  message: s.optional(s.string("The message of the member.")),
  unhealthy: s.optional(s.string("What is wrong with the object on the member: it is degraded, or not up to date.")),
  unhealthySince: s.optional(s.time("Since when.")),
});
export type ExplainedWork = s.Infer<typeof work>;

const unhealthyObject = s.object({
  apiVersion: s.string("The version of the object."),
  kind: s.string("The kind of the object."),
  namespace: s.optional(s.string("The namespace of the object.")),
  name: s.string("The name of the object."),
  unhealthy: s.string("What is wrong with the object."),
  unhealthySince: s.optional(s.time("Since when.")),
});
export type UnhealthyObject = s.Infer<typeof unhealthyObject>;

const rollout = s.object({
  placement: s.string("The name of the Placement."),
  strategy: s.string("The rollout strategy."),
  counts: s.map("The number of clusters in each state.", s.integer("A number of clusters.")),
  clusters: s.array(
    "The clusters, unfinished ones first.",
    s.object({
      cluster: s.string("The name of the member."),
      state: s.string("The state of the rollout on the member."),
      since: s.optional(s.time("When the state was entered.")),
      work: s.optional(s.string("The name of the ManifestWork.")),
      message: s.optional(s.string("The message of the member.")),
      unhealthy: s.optional(s.array("Objects that are degraded or not up to date on the member.", unhealthyObject)),
    }),
  ),
});
export type ExplainedRollout = s.Infer<typeof rollout>;

const release = s.object("The release of the template: its newest FleetRollout.", {
  name: s.string("The name of the FleetRollout."),
  number: s.integer("Counts the releases of the template."),
  strategy: s.optional(s.string("The RolloutStrategy that leads it.")),
  previous: s.optional(s.string("The FleetRollout to whose revision it returns when it is rolled back.")),
  phase: s.string(
    "The phase of the FleetRollout; `New` before it is planned, `Pending` for a change that has none yet.",
  ),
  wave: s.optional(s.string("The wave that is in progress, or was last.")),
  waveState: s.optional(s.string("Whether the wave waits for its gates, is carried out, or is complete.")),
  waves: s.array(
    "The waves, in order.",
    s.object({
      name: s.string("The name of the wave."),
      updated: s.integer("Pods that run the revision when it is complete."),
      clusters: s.array("The members that it updates.", s.string("The name of a member.")),
    }),
  ),
  updated: s.integer("Pods that run the revision of the release."),
  ready: s.integer("Of these, pods that are available."),
  total: s.integer("Pods of the workload, over all members."),
  waitingFor: s.optional(s.string("What it waits for.")),
  cause: s.optional(s.string("Why it failed.")),
});
export type ExplainedRelease = s.Infer<typeof release>;

const fields = {
  resource: s.object("The resource that is explained.", {
    apiVersion: s.string("The version of the resource."),
    kind: s.string("The kind of the resource."),
    namespace: s.optional(s.string("The namespace of the resource.")),
    name: s.string("The name of the resource."),
  }),
  policy: s.optional(policy),
  otherPolicies: s.array(
    "Policies that select the resource's kind but did not claim it, and why.",
    s.object(explainedPolicy),
  ),
  requiredBy: s.optional(s.array("Workloads that depend on the resource and take it to their members.", requirer)),
  decision: s.optional(
    s.json<ExplainedDecision>(
      "Clusters that the scheduler kept and excluded, with plugin, reason, score, available replicas and " +
        "assigned replicas. Unset when the resource is not scheduled.",
    ),
  ),
  members: s.array(
    "Each member's copy: fields changed by division and overrides, and the state reported by the member.",
    member,
  ),
  moves: s.array("The most recent automatic moves, newest last.", s.json<JsonObject>("A move, as the binding has it.")),
  leaving: s.array(
    "Evictions in progress.",
    s.object({
      cluster: s.string("The member that the copy leaves."),
      reason: s.string("The reason of the eviction."),
      producer: s.string("The component that requested the eviction."),
      message: s.optional(s.string("The message of the eviction.")),
      since: s.optional(s.time("When the eviction began.")),
    }),
  ),
  problems: s.array("Problems, each with a suggested fix.", problem),
  prioritizers: s.optional(s.array("For a Placement: the score of each prioritizer for the clusters.", prioritizer)),
  manifests: s.optional(s.array("For a ManifestWork: the state of each manifest on the member.", manifest)),
  rollout: s.optional(
    s.array("For a ManifestWorkReplicaSet: rollout progress on the clusters of each Placement.", rollout),
  ),
  release: s.optional(release),
  works: s.optional(s.array("ManifestWorks that deliver this object to members.", work)),
};

type ExplainedDecision = DecisionSummary & {
  /**
   * `recorded`: the original decision. `recomputed`: what the scheduler would decide now, because the hub has
   * restarted since or never recorded a decision.
   */
  source: "recorded" | "recomputed";
  at: string;
  /** What a new decision would change. */
  note?: string;
};

const shared = {
  group: "explain.flotilla.dev",
  version: "v1alpha1",
  servedAs: "computed",
  // Computing one Explanation runs several planners, so list is not supported.
  verbs: ["get"],
  fields,
  columns: { Policy: ".policy.name" },
} as const;
export const EXPLAIN_API_VERSION = `${shared.group}/${shared.version}`;

/** As clients read them: for resources with a ResourceBinding and for resources with a ClusterResourceBinding. */
export const Explanation = ownKind({
  ...shared,
  kind: "Explanation",
  plural: "explanations",
  scope: "Namespaced",
  description:
    "Explanation describes why a resource is placed where it is. It has the name that the resource's binding has or would have, and is computed on every read.",
});
export type Explanation = s.Infer<typeof Explanation>;

export const ClusterExplanation: Kind<Explanation> = ownKind({
  ...shared,
  kind: "ClusterExplanation",
  plural: "clusterexplanations",
  scope: "Cluster",
  description:
    "ClusterExplanation describes why a cluster-scoped resource is placed where it is. It has the name that " +
    "the resource's binding has or would have, and is computed on every read.",
});

/** As the hub serves them. `get` is resolved per request, so that the explainer may be constructed later. */
export function explanationKinds(
  get: (namespace: string | undefined, name: string) => Promise<Explanation | undefined>,
): Kind[] {
  const source: ObjectSource = {
    get: async (_cluster, namespace, asked) => (await get(namespace, asked)) as unknown as JsonObject | undefined,
    list: () => [],
    about: (object) => (object as unknown as Explanation).resource,
  };
  return [
    { ...Explanation, source },
    { ...ClusterExplanation, source },
  ];
}
