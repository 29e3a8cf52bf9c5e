/** The kinds of releases, as the hub serves them. */
import type { Kind } from "@flotilla/apimachinery";
import { FleetDisruptionBudget } from "./fleet-disruption-budget.ts";
import { FleetRollout } from "./fleet-rollout.ts";
import { RolloutStrategy } from "./rollout-strategy.ts";

export const rolloutKinds: readonly Kind[] = [RolloutStrategy, FleetRollout, FleetDisruptionBudget];
