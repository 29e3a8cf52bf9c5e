/**
 * FleetRollout: the release of one revision of a template, over all members. The hub creates one when a template changes,
 * and dispatch follows it: what each member may have is in its status. The revision itself is kept in the object, so that a
 * later release can return to it.
 */
import { ownKind, s } from "@flotilla/apimachinery";
import { strategyFields } from "./strategy-fields.ts";

const ROLLOUT_PHASES = [
  "Progressing",
  "Paused",
  "RollingBack",
  "RolledBack",
  "Succeeded",
  "Failed",
  "Superseded",
] as const;

const spec = s.object({
  target: s.object("The template.", {
    apiVersion: s.string("The version of the template.", { maxLength: 253 }),
    kind: s.string("The kind of the template.", { maxLength: 63 }),
    name: s.string("The name of the template.", { maxLength: 253 }),
    uid: s.optional(s.string("The uid of the template.", { maxLength: 128 })),
  }),
  source: s.string(
    "What leads the release: a RolloutStrategy, the partition of the template, or the rollout strategy of a " +
      "ManifestWorkReplicaSet. Releases of the latter two are only reported here.",
    { enum: ["Strategy", "Partition", "ManifestWorkReplicaSet"], default: "Strategy" },
  ),
  number: s.integer("Counts the releases of the template.", { default: 1, minimum: 1 }),
  revision: s.string("A digest of what is released.", { default: "", maxLength: 64 }),
  previous: s.optional(
    s.string("The FleetRollout to whose revision this release returns when it is rolled back.", { maxLength: 253 }),
  ),
  template: s.optional(s.json("What is released: the pod template of a workload, or all fields of other kinds.")),
  strategyName: s.optional(s.string("The RolloutStrategy that led to this release.", { maxLength: 253 })),
  rolloutName: s.optional(s.string("The Rollout (rollouts.kruise.io) that leads this release.", { maxLength: 253 })),
  strategy: s.optional(s.object("The strategy as it was when the release began.", strategyFields)),
  paused: s.boolean("Stops the release where it is; a rollback, too.", { default: false }),
  approvals: s.optional(
    s.array(
      "The waves whose approval gates are open. Of a wave with approvals before and after it, its name opens those before it, and `NAME/after` those after it.",
      s.string("The name of a wave, or NAME/after.", { maxLength: 69 }),
      {
        isSet: true,
        maxItems: 128,
      },
    ),
  ),
  promotions: s.optional(
    s.array(
      "The waves whose gates are all open; `*` means every wave.",
      s.string("The name of a wave, or *.", { maxLength: 63 }),
      {
        isSet: true,
        maxItems: 64,
      },
    ),
  ),
  abort: s.boolean("Rolls the release back.", { default: false }),
  retry: s.integer("Raised to continue a release that has failed.", { default: 0, minimum: 0 }),
});

const cluster = s.object({
  name: s.string("The name of the member."),
  wave: s.optional(s.string("The wave that reaches it first.")),
  revision: s.string("The FleetRollout whose revision the member gets."),
  target: s.optional(s.integer("How many pods may run the revision of this release; unset means all.", { minimum: 0 })),
  filled: s.optional(
    s.boolean("All its pods had this revision before it got more, so that pods that it starts would have it, too."),
  ),
  kept: s.optional(
    s.integer("Pods that keep this revision while the copy has the revision before, which the other pods run.", {
      minimum: 0,
    }),
  ),
  maxUnavailable: s.optional(s.integer("The pods that the member may make unavailable at once.", { minimum: 0 })),
  step: s.optional(
    s.string("Names the assignment on the member's copy; the member returns it with its status.", { maxLength: 512 }),
  ),
  paused: s.optional(s.boolean("The member's own update is paused.")),
  booked: s.optional(s.integer("The part of the budget that the member may be using.", { minimum: 0 })),
  replicas: s.integer("The pods that the member should run.", { default: 0 }),
  updated: s.integer("Pods that run the revision of this release.", { default: 0 }),
  ready: s.integer("Of these, pods that are available.", { default: 0 }),
  returned: s.optional(s.integer("Pods that are back on the revision before.")),
  state: s.string("Where the member is.", {
    enum: ["Waiting", "Updating", "Updated", "Unhealthy", "Unreachable", "Skipped", "RollingBack", "RolledBack"],
    default: "Waiting",
  }),
  message: s.optional(s.string("What is wrong there.", { maxLength: 1024 })),
  progressTime: s.optional(s.time("When it last made progress.")),
  unreachableSince: s.optional(s.time("Since when it cannot be reached.")),
  unhealthySince: s.optional(s.time("Since when an updated pod is unavailable that was available.")),
});

const gateStatus = s.object({
  wave: s.string("The wave."),
  when: s.string("Before or after the wave.", { enum: ["Before", "After"] }),
  index: s.integer("The position among the gates there, from 0."),
  type: s.string("The kind of gate.", { enum: ["approval", "soak", "window", "metric", "webhook", "job", "images"] }),
  state: s.string("Whether it is open.", { enum: ["Pending", "Closed", "Open", "Failed"] }),
  openedBy: s.optional(s.string("Who or what opened it.")),
  openedAt: s.optional(s.time("When it was opened.")),
  checkedAt: s.optional(s.time("When it was last checked.")),
  failures: s.optional(s.integer("How many answers in a row kept it closed.")),
  value: s.optional(s.string("The last answer.", { maxLength: 256 })),
  message: s.optional(s.string("What it waits for.", { maxLength: 1024 })),
});

const status = s.object({
  phase: s.optional(s.string("Where the release is.", { enum: ROLLOUT_PHASES })),
  wave: s.optional(s.string("The wave that is in progress, or was last.")),
  waveIndex: s.optional(s.integer("Its position, from 0.")),
  waveState: s.optional(
    s.string("Whether the wave waits for its gates, is carried out, or is complete and waits for the gates after it.", {
      enum: ["Before", "Open", "After"],
    }),
  ),
  waveStartedAt: s.optional(s.time("When the wave was opened.")),
  waveDoneAt: s.optional(s.time("When the wave was complete and healthy.")),
  updated: s.integer("Pods that run the revision of this release.", { default: 0 }),
  ready: s.integer("Of these, pods that are available.", { default: 0 }),
  total: s.integer("Pods of the workload, over all members.", { default: 0 }),
  unavailable: s.integer("Pods that are unavailable, or that the release may be making so.", { default: 0 }),
  waitingFor: s.optional(s.string("What the release waits for.", { maxLength: 1024 })),
  startedAt: s.optional(s.time("When the release began.")),
  finishedAt: s.optional(s.time("When it ended.")),
  observedGeneration: s.optional(s.integer("The generation that the status is about.", { format: "int64" })),
  failure: s.optional(
    s.object("Why the release failed.", {
      reason: s.string("A word for the cause.", { maxLength: 128 }),
      message: s.string("The cause in a sentence.", { maxLength: 2048 }),
      wave: s.optional(s.string("The wave.")),
      cluster: s.optional(s.string("The member.")),
      time: s.time("When it was found."),
      retry: s.integer("The value of `spec.retry` at that time.", { default: 0 }),
      abortedAt: s.optional(s.time("When a person aborted the release, after it had failed.")),
    }),
  ),
  gates: s.optional(s.array("The gates of the waves so far, and of the next one.", gateStatus, { maxItems: 1024 })),
  plan: s.optional(
    s.array(
      "The waves, with the pods that are updated when each is complete.",
      s.object({
        name: s.string("The name of the wave."),
        updated: s.integer("Pods that run the revision when it is complete."),
        clusters: s.array("The members that it updates.", s.string("The name of a member.")),
      }),
    ),
  ),
  clusters: s.optional(s.array("The members, with what each gets and has.", cluster, { key: "name", maxItems: 5000 })),
  conditions: s.optional(s.conditions("Progressing, Healthy and Available.")),
});

export const FleetRollout = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "FleetRollout",
  plural: "fleetrollouts",
  scope: "Namespaced",
  shortNames: ["fr"],
  categories: ["flotilla"],
  description:
    "FleetRollout is the release of one revision of a template over all members. The hub creates it when a " +
    "template changes that a RolloutStrategy selects, that a Rollout names, or that has a partition.",
  spec,
  status,
  // A list of those in progress leaves out the many that have succeeded.
  selectableFields: [".status.phase", ".spec.target.name"],
  columns: {
    Kind: ".spec.target.kind",
    Target: ".spec.target.name",
    Revision: ".spec.revision",
    Phase: ".status.phase",
    Wave: ".status.wave",
    Updated: ".status.updated",
    Total: ".status.total",
    "Waiting-For": ".status.waitingFor",
    Cause: ".status.failure.reason",
    Source: { path: ".spec.source", isWide: true },
    Stale: { path: '.status.conditions[?(@.type=="Stale")].status', isWide: true },
    Unavailable: { path: ".status.unavailable", isWide: true },
    Message: { path: ".status.failure.message", isWide: true },
  },
});
export type FleetRollout = s.Infer<typeof FleetRollout>;
export type FleetRolloutStatus = NonNullable<FleetRollout["status"]>;
export type RolloutCluster = NonNullable<FleetRolloutStatus["clusters"]>[number];
export type GateStatus = NonNullable<FleetRolloutStatus["gates"]>[number];
