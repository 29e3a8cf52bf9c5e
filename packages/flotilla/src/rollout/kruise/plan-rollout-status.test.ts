import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Rollout } from "@flotilla/openkruise";
import { releaseDigest } from "../../propagation/templates/released-part.ts";
import type { FleetRollout, FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { planRolloutStatus } from "./plan-rollout-status.ts";
import type { LeadInput, RolloutStatus } from "./plan-rollout-status.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");

const template = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name: "web", namespace: "shop", generation: 7 },
  spec: { template: { spec: { containers: [] } } },
} as unknown as KubernetesObject;

interface Given {
  status?: Partial<RolloutStatus>;
  release?: Partial<FleetRolloutStatus>;
  spec?: Partial<FleetRollout["spec"]>;
  input?: Partial<LeadInput>;
  disabled?: boolean;
}

function makeInput({ status, release, spec, input, disabled = false }: Given): LeadInput {
  const rollout = {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "Rollout",
    metadata: { name: "web", namespace: "shop", generation: 2 },
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      strategy: { canary: { steps: [{ replicas: "20%" }, { replicas: "50%" }, { replicas: "100%" }] } },
      disabled,
    },
    status: status as RolloutStatus,
  } as Rollout;
  const newest = {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetRollout",
    metadata: { name: "web-2", namespace: "shop" },
    spec: { revision: releaseDigest(template), previous: "web-1", rolloutName: "web", ...spec },
    status: {
      phase: "Progressing",
      wave: "step-1",
      waveState: "After",
      updated: 2,
      ready: 1,
      clusters: [],
      ...release,
    },
  } as unknown as FleetRollout;
  return {
    rollout,
    template,
    hasOwnPartition: false,
    selectedBy: undefined,
    newest,
    refusal: undefined,
    remark: undefined,
    nowMs: NOW_MS,
    ...input,
  };
}

const APPROVAL = {
  wave: "step-1",
  when: "After",
  index: 0,
  type: "approval",
  state: "Closed",
  message: "wave step-1 is not approved",
} as const;
const written = (more: object): Partial<RolloutStatus> =>
  ({
    canaryStatus: {
      canaryRevision: "web-2",
      currentStepIndex: 1,
      nextStepIndex: 2,
      currentStepState: "StepPaused",
      ...more,
    },
  }) as Partial<RolloutStatus>;

const states: Record<
  string,
  { given: Given; want: [phase: string, step: number, state: string, progressing?: string] }
> = {
  "a step whose pods are updated": {
    given: { release: { waveState: "Open" } },
    want: ["Progressing", 1, "StepUpgrade", "True InRolling"],
  },
  "a step that waits": {
    given: { release: { gates: [APPROVAL] } },
    want: ["Progressing", 1, "StepPaused", "True InRolling"],
  },
  "the rest after the last step": {
    given: { release: { wave: "rest", waveState: "Open" } },
    want: ["Progressing", 3, "Completed", "True Finalising"],
  },
  "a release that is paused": {
    given: { release: { phase: "Paused" } },
    want: ["Progressing", 1, "StepPaused", "True Paused"],
  },
  "a release that returns": {
    given: { release: { phase: "RollingBack" } },
    want: ["Progressing", 1, "StepUpgrade", "True Cancelling"],
  },
  "a release that has returned": {
    given: { release: { phase: "RolledBack" } },
    want: ["Progressing", 1, "StepUpgrade", "False Cancelling"],
  },
  "a complete release": {
    given: { release: { phase: "Succeeded" } },
    want: ["Healthy", 3, "Completed", "False Completed"],
  },
  "a workload that was never released": {
    given: { release: { phase: "Succeeded" }, spec: { previous: undefined } },
    want: ["Healthy", 3, "Completed"],
  },
  "a disabled Rollout": {
    given: { disabled: true, release: { phase: "Succeeded" } },
    want: ["Disabled", 3, "Completed"],
  },
  "a Rollout that is disabled during a release": {
    given: { disabled: true, release: { waveState: "Open" } },
    want: ["Disabling", 1, "StepUpgrade", "True InRolling"],
  },
  "a workload that no policy propagates": { given: { input: { template: undefined } }, want: ["Initial", 0, ""] },
  "a changed template that is held back": {
    given: { spec: { revision: "other" }, input: { refusal: "blueGreen" } },
    want: ["Progressing", 1, "BeforeStepUpgrade", "True Initializing"],
  },
};
test.each(Object.entries(states))("%s", (_name, { given, want }) => {
  const { status } = planRolloutStatus(makeInput(given));

  const progressing = status.conditions?.find(({ type }) => type === "Progressing");
  const found = [status.phase, status.currentStepIndex, status.currentStepState];
  expect(progressing ? [...found, `${progressing.status} ${progressing.reason}`] : found).toEqual(want);
});

describe("what a person writes into the status", () => {
  const waiting: Given["release"] = { gates: [APPROVAL] };

  test("approves the step that waits", () => {
    const plan = planRolloutStatus(makeInput({ release: waiting, status: written({ currentStepState: "StepReady" }) }));

    expect(plan.promote).toEqual(["step-1"]);
    expect(plan.status.currentStepState).toBe("StepReady");
  });

  test.each([
    ["of another release", { canaryRevision: "web-1", currentStepState: "StepReady" }, waiting, {}],
    ["of another step", { currentStepIndex: 2, nextStepIndex: 3, currentStepState: "StepReady" }, waiting, {}],
    ["before the pods are updated", { currentStepState: "StepReady" }, { waveState: "Open" }, {}],
    ["of a release of a RolloutStrategy", { currentStepState: "StepReady" }, waiting, { rolloutName: undefined }],
  ] as const)("approves nothing %s", (_which, more, release, spec) => {
    const plan = planRolloutStatus(makeInput({ release, spec, status: written(more) }));

    expect(plan.promote).toEqual([]);
  });

  test("jumps ahead over the steps in between", () => {
    const plan = planRolloutStatus(makeInput({ release: waiting, status: written({ nextStepIndex: 3 }) }));

    expect(plan.promote).toEqual(["step-1", "step-2"]);
    expect(plan.status.canaryStatus?.nextStepIndex).toBe(2);
  });

  test("does not return to a step that is done", () => {
    const plan = planRolloutStatus(
      makeInput({
        release: { wave: "step-2" },
        status: written({ currentStepIndex: 2, nextStepIndex: 1 }),
      }),
    );

    expect(plan).toMatchObject({
      promote: [],
      refused: "a release over the fleet does not return from step 2 to step 1",
      status: { canaryStatus: { nextStepIndex: 3 } },
    });
  });
});

test.each([
  [{}, "True StepsOverTheFleet"],
  [{ hasOwnPartition: true }, "False OwnPartition"],
  [{ selectedBy: "careful" }, "False RolloutStrategy"],
  [{ refusal: "blueGreen" }, "False CannotBeCarriedOver"],
] as const)("says in FleetWide whether it leads the fleet: %j is %s", (input, want) => {
  const { status } = planRolloutStatus(makeInput({ input }));

  const found = status.conditions?.find(({ type }) => type === "FleetWide");
  expect(`${found?.status} ${found?.reason}`).toBe(want);
});

test("is the same status when nothing has changed", () => {
  const first = planRolloutStatus(makeInput({ release: { gates: [APPROVAL] } })).status;

  const later = makeInput({ release: { gates: [APPROVAL] }, status: first, input: { nowMs: NOW_MS + 60_000 } });

  expect(planRolloutStatus(later).status).toEqual(first);
});
