/** kruise-rollout's RolloutHistory: what a finished release of a Rollout was, and which pods each step updated. */
import type { RolloutHistory as RolloutHistoryFacts } from "@flotilla/apimachinery/facts/rollouts-kruise-v1alpha1.ts";
import { AGE } from "@flotilla/apimachinery";
import { kruiseKind } from "../api/kruise-kind.ts";
import { rolloutHistoryDescriptions } from "./rollouthistory-descriptions.ts";

export type RolloutHistory = RolloutHistoryFacts;

export const RolloutHistory = kruiseKind<RolloutHistory>({
  group: "rollouts.kruise.io",
  kind: "RolloutHistory",
  plural: "rollouthistories",
  columns: [AGE],
  descriptions: rolloutHistoryDescriptions,
});
