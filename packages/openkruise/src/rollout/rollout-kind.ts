/** kruise-rollout's Rollout: releases a new template of a workload step by step. */
import { AGE } from "@flotilla/apimachinery";
import type { Rollout as RolloutFacts } from "@flotilla/apimachinery/facts/rollouts-kruise-v1beta1.ts";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { rolloutDescriptions } from "./rollout-descriptions.ts";
import { fromStorage, toStorage } from "./rollout-versions.ts";

export type Rollout = RolloutFacts;

const columnsOf = (steps: string): Column[] => [
  { name: "STATUS", type: "string", jsonPath: ".status.phase" },
  count("CANARY_STEP", `${steps}.currentStepIndex`),
  { name: "CANARY_STATE", type: "string", jsonPath: `${steps}.currentStepState` },
  { name: "MESSAGE", type: "string", jsonPath: ".status.message" },
  { ...AGE, name: "AGE" },
];

export const Rollout = kruiseKind<Rollout>({
  group: "rollouts.kruise.io",
  kind: "Rollout",
  plural: "rollouts",
  columns: columnsOf(".status"),
  v1alpha1Columns: columnsOf(".status.canaryStatus"),
  conversion: { toStorage, fromStorage },
  descriptions: rolloutDescriptions,
});
