import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { kruiseRolloutInterpreter as rules } from "./rollout-interpreter.ts";

const rollout = {
  apiVersion: "rollouts.kruise.io/v1beta1",
  kind: "Rollout",
  metadata: { name: "web", namespace: "shop", generation: 4 },
};
const observed = { observedGeneration: 4, generation: 4, resourceTemplateGeneration: 4 };

const cases: Record<string, { members: JsonObject[]; want: JsonObject }> = {
  "by phase": {
    members: [
      { phase: "Healthy", message: "done", currentStepIndex: 3, currentStepState: "Completed" },
      { phase: "Progressing", message: "step 2", currentStepIndex: 2, currentStepState: "StepUpgrade" },
    ],
    want: { phase: "Progressing", message: "paris=step 2", currentStepIndex: 2, currentStepState: "StepUpgrade" },
  },
  "by step": {
    members: [
      { phase: "Progressing", message: "step 1", currentStepIndex: 1, currentStepState: "StepPaused" },
      { phase: "Progressing", message: "step 2", currentStepIndex: 2, currentStepState: "StepUpgrade" },
    ],
    want: { phase: "Progressing", message: "oslo=step 1", currentStepIndex: 1, currentStepState: "StepPaused" },
  },
  "by step state, also if only the strategy has it": {
    members: [
      { phase: "Progressing", canaryStatus: { currentStepIndex: 1, currentStepState: "StepPaused" } },
      { phase: "Progressing", canaryStatus: { currentStepIndex: 1, currentStepState: "StepUpgrade" } },
    ],
    want: { phase: "Progressing", canaryStatus: { currentStepIndex: 1, currentStepState: "StepUpgrade" } },
  },
};
for (const [how, { members, want }] of Object.entries(cases)) {
  test(`a Rollout shows the slowest member, ${how}`, () => {
    const items = members.map((status, index) => ({
      clusterName: ["oslo", "paris"][index] ?? "",
      status: { ...observed, ...status },
    }));

    const once = rules.aggregateStatus?.(rollout, items);

    expect(once?.status).toEqual({ ...want, observedGeneration: 4 });
    expect(rules.aggregateStatus?.(once ?? rollout, items)).toBe(once);
  });
}

test("a Rollout without members is in the initial phase", () => {
  expect(rules.aggregateStatus?.({ ...rollout, status: { phase: "Progressing" } }, [])?.status).toEqual({
    phase: "Initial",
    currentStepIndex: 0,
    currentStepState: "",
    observedGeneration: 4,
  });
});

const health: Record<string, { status: JsonObject; want: boolean }> = {
  "that is complete": { status: { phase: "Healthy", observedGeneration: 4 }, want: true },
  "that waits for manual approval": {
    status: { phase: "Progressing", currentStepState: "StepPaused", observedGeneration: 4 },
    want: true,
  },
  "that is in progress": {
    status: { phase: "Progressing", currentStepState: "StepUpgrade", observedGeneration: 4 },
    want: false,
  },
  "whose newest spec is not observed": { status: { phase: "Healthy", observedGeneration: 3 }, want: false },
};
for (const [which, { status, want }] of Object.entries(health)) {
  test(`a Rollout ${which} is ${want ? "healthy" : "unhealthy"}`, () => {
    expect(rules.isHealthy?.({ ...rollout, status })).toBe(want);
  });
}
