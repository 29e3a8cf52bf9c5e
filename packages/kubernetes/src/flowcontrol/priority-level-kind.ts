/** PriorityLevelConfiguration: how many seats requests of one priority have, and what happens to those above. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PriorityLevelConfiguration as LevelFacts } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";

export type PriorityLevelConfiguration = LevelFacts;

type Queuing = NonNullable<
  NonNullable<NonNullable<PriorityLevelConfiguration["spec"]>["limited"]>["limitResponse"]
>["queuing"];
const queuingOf = ({ spec }: { spec?: { limited?: { limitResponse?: { queuing?: Queuing } } } }): Queuing =>
  spec?.limited?.limitResponse?.queuing;

export const PriorityLevelConfiguration: Kind<PriorityLevelConfiguration> = builtInKind<PriorityLevelConfiguration>({
  group: "flowcontrol.apiserver.k8s.io",
  version: "v1",
  kind: "PriorityLevelConfiguration",
  plural: "prioritylevelconfigurations",
  scope: "Cluster",
  facts: "flowcontrol-v1",
  columns: [
    nameColumn,
    column<PriorityLevelConfiguration>("Type", ({ spec }) => spec?.type ?? ""),
    column<PriorityLevelConfiguration>(
      "NominalConcurrencyShares",
      ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares ?? "<none>",
    ),
    column<PriorityLevelConfiguration>("Queues", (level) => queuingOf(level)?.queues ?? "<none>"),
    column<PriorityLevelConfiguration>("HandSize", (level) => queuingOf(level)?.handSize ?? "<none>"),
    column<PriorityLevelConfiguration>("QueueLengthLimit", (level) => queuingOf(level)?.queueLengthLimit ?? "<none>"),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { metadataChecks: { create: true }, statusKeepsMetadata: true },
});
