/** The kinds of releases and what the server checks of them. A new kind is one file in `kinds` and one definition here. */
import { formatApiVersion } from "@flotilla/apimachinery";
import type { AnyKindStep, Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { defineKind, rulesOf, servedKinds } from "@flotilla/kubernetes";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { RolloutStrategy } from "./kinds/rollout-strategy.ts";
import { budgetRules, rolloutReferences, rolloutRules, strategyRules } from "./rollout-admissions.ts";

const exampleOf = (kind: Kind, spec: JsonObject): KubernetesObject & { spec: JsonObject } => ({
  apiVersion: formatApiVersion(kind.group, kind.storageVersion),
  kind: kind.kind,
  metadata: { name: "web", namespace: "shop" },
  spec,
});

export const rolloutDefinitions: readonly AnyDefinition[] = [
  defineKind({
    kind: RolloutStrategy,
    example: exampleOf(RolloutStrategy, { selector: {} }),
    rules: [strategyRules],
  }),
  defineKind({
    kind: FleetRollout,
    example: exampleOf(FleetRollout, { target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }),
    rules: [rolloutRules],
  }),
  defineKind({
    kind: FleetDisruptionBudget,
    example: exampleOf(FleetDisruptionBudget, { selector: {}, maxUnavailable: 1 }),
    rules: [budgetRules],
  }),
];

export const rolloutKinds: readonly Kind[] = servedKinds(rolloutDefinitions);

/** The rules of each kind, and the permissions that the writer of a reference needs on the hub. */
export const rolloutAdmissions = (hub: string): readonly AnyKindStep[] => [
  ...rulesOf(rolloutDefinitions, undefined),
  ...rolloutReferences(hub),
];
