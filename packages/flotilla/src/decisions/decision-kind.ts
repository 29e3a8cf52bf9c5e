/**
 * Decision: one automatic decision of a controller, with its cause, its actor, and what was before and after it. Decisions
 * are not stored with the other objects: the API server appends them to a log of bounded size (docs/adr/0042).
 */
import { ownKind, s } from "@flotilla/apimachinery";
import type { Kind, ObjectSource } from "@flotilla/apimachinery";

/** What was decided. */
const DECISION_TYPES = [
  "Placed",
  "Moved",
  "Divided",
  "NotPlaced",
  "EvictionStarted",
  "EvictionEnded",
  "RolloutStep",
  "Dispatched",
  "DriftRepaired",
  "DriftFound",
  "Adopted",
  "Rebalanced",
  "MemberChanged",
  "Tainted",
  "ClustersSelected",
  "Scaled",
  "Expired",
] as const;
export type DecisionType = (typeof DECISION_TYPES)[number];

export const Decision = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "Decision",
  plural: "decisions",
  scope: "Cluster",
  categories: ["flotilla"],
  verbs: ["create", "get", "list"],
  servedAs: "computed",
  description:
    "Decision is one automatic decision of a controller. Controllers create them; the hub keeps the newest " +
    "ones, and writes them to the audit log if there is one.",
  fields: {
    time: s.time("When it was decided."),
    type: s.string("What was decided.", { enum: DECISION_TYPES }),
    actor: s.object("What decided it.", {
      controller: s.string("The name of the controller."),
      user: s.optional(s.string("The user that recorded the decision. Set by the server.")),
    }),
    object: s.object("The object that it is about.", {
      apiVersion: s.string("The version of the object."),
      kind: s.string("The kind of the object."),
      namespace: s.optional(s.string("The namespace of the object.")),
      name: s.string("The name of the object."),
      uid: s.optional(s.string("The uid of the object.")),
    }),
    clusters: s.array("The members that it concerns.", s.string("The name of a member.")),
    cause: s.object("Why it was decided.", {
      reason: s.string("A word for the cause."),
      message: s.string("The cause in a sentence."),
    }),
    before: s.optional(s.json("The previous state.")),
    after: s.optional(s.json("The new state.")),
  },
  columns: {
    Time: ".time",
    Decision: ".type",
    Kind: ".object.kind",
    Namespace: ".object.namespace",
    Object: ".object.name",
    Cause: ".cause.message",
    Actor: { path: ".actor.controller", isWide: true },
  },
});
export type Decision = s.Infer<typeof Decision>;

/** As the hub serves it. */
export const decisionKind = (source: ObjectSource): Kind => ({ ...Decision, source });
