/**
 * The status of a policy, which is Flotilla's addition: what it matched, where that went and what is wrong. Clients of
 * Karmada know no status of policies and lose nothing.
 */
import type { Schema } from "../../machinery/index.ts";
import type { Condition } from "../facts/meta-v1.ts";
import type { Column } from "../kind.ts";

/** One object of a policy that is not where it should be. */
export interface PolicyProblem {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  /** In one word: `NoClusterFit`. */
  reason: string;
  message?: string;
}

export interface PolicyStatus {
  /** The generation of the policy that the rest is about. */
  observedGeneration?: number;
  /** How many objects the policy has claimed. */
  matched?: number;
  /** How many of them have members. */
  scheduled?: number;
  /** How many of them are on every one of their members, as wanted. */
  applied?: number;
  /** The members that have something of this policy, sorted; the first MAX_STATUS_CLUSTERS. */
  clusters?: string[];
  /** How many members that is. */
  clusterCount?: number;
  /** What is wrong, the worst first; at most MAX_STATUS_PROBLEMS. */
  problems?: PolicyProblem[];
  /** `Matched`, `Scheduled` and `FullyApplied`. */
  conditions?: Condition[];
}

/** A status stays small however many objects and members there are. */
export const MAX_STATUS_CLUSTERS = 100;
export const MAX_STATUS_PROBLEMS = 10;

const count = (description: string): Schema => ({ type: "integer", format: "int32", minimum: 0, description });
const text = (maxLength: number): Schema => ({ type: "string", maxLength });

const condition: Schema = {
  type: "object",
  required: ["lastTransitionTime", "message", "reason", "status", "type"],
  properties: {
    lastTransitionTime: { type: "string", format: "date-time" },
    message: text(32_768),
    observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    reason: { ...text(1024), minLength: 1, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    type: text(316),
  },
};

const problem: Schema = {
  type: "object",
  required: ["apiVersion", "kind", "name", "reason"],
  properties: {
    apiVersion: text(316),
    kind: text(63),
    namespace: text(63),
    name: text(253),
    reason: text(1024),
    message: text(1024),
  },
};

const status: Schema = {
  type: "object",
  description: "What the policy matched, where that went and what is wrong. Flotilla's addition to Karmada's policies.",
  properties: {
    observedGeneration: {
      type: "integer",
      format: "int64",
      description: "The generation of the policy that this status is about.",
    },
    matched: count("How many objects the policy has claimed."),
    scheduled: count("How many of the matched objects have member clusters."),
    applied: count("How many of the matched objects are on every one of their member clusters as wanted."),
    clusters: {
      type: "array",
      maxItems: MAX_STATUS_CLUSTERS,
      items: text(48),
      "x-kubernetes-list-type": "set",
      description: `The member clusters that have something of this policy; the first ${MAX_STATUS_CLUSTERS} by name.`,
    },
    clusterCount: count("How many member clusters have something of this policy."),
    problems: {
      type: "array",
      maxItems: MAX_STATUS_PROBLEMS,
      items: problem,
      "x-kubernetes-list-type": "atomic",
      description: `Objects that are not where they should be; the worst ${MAX_STATUS_PROBLEMS}.`,
    },
    conditions: {
      type: "array",
      items: condition,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      description: "Matched, Scheduled and FullyApplied.",
    },
  },
};

/** The schema of a policy with its status. */
export function withPolicyStatus(schema: Schema): Schema {
  return { ...schema, properties: { ...schema.properties, status } };
}

/** Shown with `-o wide`; what is always shown is as in Karmada. */
export const policyStatusColumns: readonly Column[] = (["matched", "scheduled", "applied"] as const).map((field) => ({
  name: field.toUpperCase(),
  type: "integer",
  priority: 1,
  jsonPath: `.status.${field}`,
}));
