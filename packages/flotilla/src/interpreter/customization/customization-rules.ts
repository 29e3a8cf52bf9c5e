/**
 * The rules of a ResourceInterpreterCustomization in Karmada's order: field, operation and the function that implements
 * it.
 */
import type { CustomizationRules } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import type { ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Operation } from "@flotilla/kubernetes";

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
