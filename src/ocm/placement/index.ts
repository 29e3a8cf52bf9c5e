export * from "./plan-placement.ts";
export type { PlannedDecision } from "./decision-groups.ts";
export type { ScoreSources } from "./prioritizers.ts";
