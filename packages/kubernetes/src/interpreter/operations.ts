/** Karmada's operation names, and the property of `KindInterpreter` that implements each. */
import type { KindInterpreter } from "./kind-interpreter.ts";

export type Rule = Exclude<
  keyof KindInterpreter,
  | "group"
  | "kind"
  | "versions"
  | "conditions"
  | "concerns"
  | "changesNewPods"
  | "release"
  | "keepsUpdated"
  | "podsToDelete"
  | "restateStatus"
  | "prune"
  | "timeToLive"
  | "isFinished"
>;

export const OPERATIONS = {
  InterpretReplica: "replicas",
  InterpretComponent: "components",
  ReviseReplica: "reviseReplicas",
  Retain: "retain",
  AggregateStatus: "aggregateStatus",
  InterpretStatus: "reflectStatus",
  InterpretHealth: "isHealthy",
  InterpretDependency: "dependencies",
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof OPERATIONS;
