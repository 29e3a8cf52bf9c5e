/** Priority and fairness: which requests wait when the server is busy. */
import type { KindDefinition } from "../definition/kind-definition.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { FlowSchema } from "./flow-schema-kind.ts";
import { flowSchemaRules } from "./flow-schema-rules.ts";
import { PriorityLevelConfiguration } from "./priority-level-kind.ts";
import { priorityLevelRules } from "./priority-level-rules.ts";

export const flowControlDefinitions: readonly KindDefinition[] = [
  defineKind({
    kind: FlowSchema,
    rules: flowSchemaRules,
    example: exampleOf(FlowSchema, { spec: { priorityLevelConfiguration: { name: "global-default" } } }),
  }),
  defineKind({
    kind: PriorityLevelConfiguration,
    rules: priorityLevelRules,
    example: exampleOf(PriorityLevelConfiguration, {
      spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    }),
  }),
];
