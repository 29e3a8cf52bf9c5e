/**
 * The story that the demo tells, from beginning to end. Each step acts as a person would and says what must then be
 * seen.
 */
import { failureSteps } from "./failure-steps.ts";
import type { PodView, Shares } from "./fleet-view.ts";
import { placementSteps } from "./placement-steps.ts";
import { rolloutSteps } from "./rollout-steps.ts";
import type { Step } from "./stage.ts";

export const MEMBERS: readonly string[] = ["member1", "member2", "member3"];

/** What later steps need to know of earlier ones. */
export interface Memory {
  /** What the last plan said. */
  planned: Shares;
  /** How the replicas were divided when all was well. */
  shares: Shares;
  /** The pods before the update. */
  pods: readonly PodView[];
}

export function tellStory(now: () => number): Step[] {
  const memory: Memory = { planned: {}, shares: {}, pods: [] };
  return [...placementSteps(memory), ...rolloutSteps(memory, now), ...failureSteps(memory)];
}
