/** All steps of the demo in order. Each step acts as a user would and states the effect that must be observed. */
import { failureSteps } from "./failure-steps.ts";
import { placementSteps } from "./placement-steps.ts";
import { rolloutSteps } from "./rollout-steps.ts";
import type { Step } from "./stage.ts";
import type { Memory } from "./memory.ts";

export const MEMBERS: readonly string[] = ["member1", "member2", "member3"];

export function demoSteps(now: () => number): Step[] {
  const memory: Memory = { planned: {}, shares: {}, pods: [] };
  return [...placementSteps(memory), ...rolloutSteps(memory, now), ...failureSteps(memory)];
}
