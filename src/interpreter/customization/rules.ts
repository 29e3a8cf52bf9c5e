/**
 * The rules of a ResourceInterpreterCustomization in Karmada's order: field, operation and the function that implements
 * it.
 */
import type { CustomizationRules, ResourceInterpreterCustomization } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Operation } from "../operations.ts";

export type Customization = DeepReadonly<ResourceInterpreterCustomization>;
export type RuleField = keyof CustomizationRules;

export interface CustomizationRule {
  readonly field: RuleField;
  readonly operation: Operation;
  readonly functionName: string;
}

export const CUSTOMIZATION_RULES: readonly CustomizationRule[] = [
  { field: "retention", operation: "Retain", functionName: "Retain" },
  { field: "replicaResource", operation: "InterpretReplica", functionName: "GetReplicas" },
  { field: "componentResource", operation: "InterpretComponent", functionName: "GetComponents" },
  { field: "replicaRevision", operation: "ReviseReplica", functionName: "ReviseReplica" },
  { field: "statusReflection", operation: "InterpretStatus", functionName: "ReflectStatus" },
  { field: "statusAggregation", operation: "AggregateStatus", functionName: "AggregateStatus" },
  { field: "healthInterpretation", operation: "InterpretHealth", functionName: "InterpretHealth" },
  { field: "dependencyInterpretation", operation: "InterpretDependency", functionName: "GetDependencies" },
];

/** An empty script counts as no script. */
export function scriptOf({ spec }: Customization, field: RuleField): string | undefined {
  return spec.customizations[field]?.luaScript || undefined;
}
