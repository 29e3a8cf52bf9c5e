/** FlowSchema: which priority level a request belongs to, and which requests form a flow. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { FlowSchema as FlowSchemaFacts } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";

export type FlowSchema = FlowSchemaFacts;

export const FlowSchema: Kind<FlowSchema> = builtInKind<FlowSchema>({
  group: "flowcontrol.apiserver.k8s.io",
  version: "v1",
  kind: "FlowSchema",
  plural: "flowschemas",
  scope: "Cluster",
  facts: "flowcontrol-v1",
  columns: [
    nameColumn,
    column<FlowSchema>("PriorityLevel", ({ spec }) => spec?.priorityLevelConfiguration.name ?? "<none>"),
    column<FlowSchema>("MatchingPrecedence", ({ spec }) => spec?.matchingPrecedence ?? 0),
    column<FlowSchema>("DistinguisherMethod", ({ spec }) => spec?.distinguisherMethod?.type ?? "<none>"),
    ageColumn,
    column<FlowSchema>(
      "MissingPL",
      ({ status }) => status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
    ),
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { statusKeepsMetadata: true },
});
