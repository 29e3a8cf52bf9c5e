/**
 * The status of a policy, Flotilla's addition: the objects it matched, where they were propagated, and problems.
 * Karmada clients ignore it.
 */
import type { Column, Schema } from "@flotilla/apimachinery";
import type { Condition } from "@flotilla/apimachinery/facts/meta-v1.ts";

/** An object of a policy that is not propagated as desired. */
export interface PolicyProblem {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  /** CamelCase reason, such as `NoClusterFit`. */
  reason: string;
  message?: string;
}

export interface PolicyStatus {
  /** The generation of the policy that the status reflects. */
  observedGeneration?: number;
  /** The number of objects the policy has claimed. */
  matched?: number;
  /** The number of claimed objects scheduled to members. */
  scheduled?: number;
  /** The number of claimed objects applied on all their members as desired. */
  applied?: number;
  /** The members with objects of this policy, sorted; the first MAX_STATUS_CLUSTERS. */
  clusters?: string[];
  /** The number of members with objects of this policy. */
  clusterCount?: number;
  /** Problems, most severe first; at most MAX_STATUS_PROBLEMS. */
  problems?: PolicyProblem[];
  /** `Matched`, `Scheduled` and `FullyApplied`. */
  conditions?: Condition[];
}

/** Bounds the status regardless of the number of objects and members. */
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
  description:
    "The objects the policy matched, where they were propagated, and problems. Flotilla's addition to Karmada's policies.",
  properties: {
    observedGeneration: {
      type: "integer",
      format: "int64",
      description: "The generation of the policy that this status reflects.",
    },
    matched: count("The number of objects the policy has claimed."),
    scheduled: count("The number of matched objects scheduled to member clusters."),
    applied: count("The number of matched objects applied on all their member clusters as desired."),
    clusters: {
      type: "array",
      maxItems: MAX_STATUS_CLUSTERS,
      items: text(48),
      "x-kubernetes-list-type": "set",
      description: `The member clusters with objects of this policy; the first ${MAX_STATUS_CLUSTERS} by name.`,
    },
    clusterCount: count("The number of member clusters with objects of this policy."),
    problems: {
      type: "array",
      maxItems: MAX_STATUS_PROBLEMS,
      items: problem,
      "x-kubernetes-list-type": "atomic",
      description: `Objects that are not propagated as desired; the ${MAX_STATUS_PROBLEMS} most severe.`,
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

/** Shown with `-o wide`; the default columns are Karmada's. */
export const policyStatusColumns: readonly Column[] = (["matched", "scheduled", "applied"] as const).map((field) => ({
  name: field.toUpperCase(),
  type: "integer",
  priority: 1,
  jsonPath: `.status.${field}`,
}));
