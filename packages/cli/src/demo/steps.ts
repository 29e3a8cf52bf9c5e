/** All steps of the demo in order. Each step acts as a user would and states the effect that must be observed. */
import { failureSteps } from "./failure-steps.ts";
import type { PodView, Shares } from "./fleet-view.ts";
import { placementSteps } from "./placement-steps.ts";
import { rolloutSteps } from "./rollout-steps.ts";
import type { Step } from "./stage.ts";

export const MEMBERS: readonly string[] = ["member1", "member2", "member3"];

/** What later steps need from earlier ones. */
export interface Memory {
  /** The result of the last plan. */
  planned: Shares;
  /** How the replicas were divided while all members were healthy. */
  shares: Shares;
  /** The pods before the update. */
  pods: readonly PodView[];
}

export function demoSteps(now: () => number): Step[] {
  const memory: Memory = { planned: {}, shares: {}, pods: [] };
  return [...placementSteps(memory), ...rolloutSteps(memory, now), ...failureSteps(memory)];
}
