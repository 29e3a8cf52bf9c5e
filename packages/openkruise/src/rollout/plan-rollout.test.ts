import { describe, expect, test } from "vitest";
import type { BatchRelease } from "../batchrelease/batchrelease-kind.ts";
import { planHash } from "../batchrelease/plan-batch.ts";
import type { ReleasedWorkload } from "../released-workload/released-workload.ts";
import { planRollout } from "./plan-rollout.ts";
import type { RolloutInput } from "./plan-rollout.ts";
import type { Rollout } from "./rollout-kind.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();

type Canary = NonNullable<NonNullable<Rollout["status"]>["canaryStatus"]>;

interface Given {
  phase?: string;
  reason?: string;
  reasonAgo?: number;
  canary?: Partial<Canary>;
  workload?: Partial<ReleasedWorkload> | "absent";
  batch?: { state?: string; step?: number; partition?: number | null; phase?: string; deleted?: boolean } | "none";
  spec?: Partial<Rollout["spec"]>;
  annotations?: Record<string, string>;
  deleted?: boolean;
}

const STEPS = [
  { replicas: "20%", pause: {} },
  { replicas: "60%", pause: { duration: 60 } },
  { replicas: "100%", pause: {} },
];

function makeInput(given: Given): RolloutInput {
  const { phase = "Progressing", reason = "InRolling", canary, batch = {}, spec, annotations, deleted } = given;
  const rollout: Rollout = {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "Rollout",
    metadata: {
      name: "web",
      namespace: "shop",
      generation: 3,
      annotations,
      deletionTimestamp: deleted ? ago(1) : undefined,
    },
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
      strategy: { canary: { steps: STEPS } },
      disabled: false,
      ...spec,
    },
    status: {
      phase,
      currentStepIndex: 1,
      currentStepState: "",
      conditions:
        phase === "Progressing"
          ? [
              {
                type: "Progressing",
                status: "True",
                reason,
                message: "",
                lastUpdateTime: ago(given.reasonAgo ?? 60),
                lastTransitionTime: ago(60),
              },
            ]
          : [],
      canaryStatus: canary && {
        stableRevision: "aaa",
        canaryRevision: "bbb",
        podTemplateHash: "bbb",
        canaryReplicas: 0,
        canaryReadyReplicas: 0,
        currentStepIndex: 1,
        nextStepIndex: 2,
        currentStepState: "StepPaused",
        finalisingStep: "",
        lastUpdateTime: ago(10),
        ...canary,
      },
    },
  };
  const changes = given.workload === "absent" ? undefined : given.workload;
  const workload: ReleasedWorkload = {
    object: {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "CloneSet",
      metadata: { name: "web", namespace: "shop", generation: 2 },
    },
    replicas: 5,
    present: 5,
    updated: 1,
    updatedReady: 1,
    stableRevision: "aaa",
    updateRevision: "bbb",
    isObserved: true,
    isInProgress: true,
    isReturning: false,
    partition: "80%",
    ...changes,
  };
  return {
    rollout,
    workload: given.workload === "absent" ? undefined : workload,
    batch: batch === "none" ? undefined : makeBatch(batch),
    nowMs: NOW_MS,
  };
}

function makeBatch({
  state = "Ready",
  step = 1,
  partition = step - 1,
  phase = "Progressing",
  deleted,
}: Exclude<Given["batch"], "none" | undefined>): BatchRelease {
  const releasePlan = {
    batches: STEPS.map(({ replicas }) => ({ canaryReplicas: replicas })),
    rolloutID: "bbb",
    batchPartition: partition ?? undefined,
    enableExtraWorkloadForCanary: false,
  };
  return {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "BatchRelease",
    metadata: { name: "web", namespace: "shop", generation: 1, deletionTimestamp: deleted ? ago(1) : undefined },
    spec: { releasePlan },
    status: {
      phase,
      observedGeneration: 1,
      observedReleasePlanHash: planHash(releasePlan),
      canaryStatus: { currentBatch: step - 1, batchState: state, updatedReplicas: 1, updatedReadyReplicas: 1 },
    },
  };
}

const standingOf = ({ status }: ReturnType<typeof planRollout>): string => {
  const { canaryStatus: canary, conditions = [], phase } = status;
  const reason = conditions.find(({ type }) => type === "Progressing")?.reason ?? "-";
  return `${phase} ${canary?.currentStepIndex ?? 0} ${canary?.currentStepState || "-"} ${reason}`;
};

const cases: Record<string, { given: Given; want: string }> = {
  "a workload that does not exist": { given: { workload: "absent" }, want: "Initial 0 - -" },
  "a new Rollout of a workload that is not released": {
    given: { phase: "Initial", batch: "none", workload: { isInProgress: false } },
    want: "Healthy 3 Completed -",
  },
  "a workload that the webhook held back": {
    given: { phase: "Healthy", batch: "none" },
    want: "Progressing 1 BeforeStepUpgrade Initializing",
  },
  "the time that edits are given": {
    given: { reason: "Initializing", reasonAgo: 1, batch: "none" },
    want: "Progressing 1 BeforeStepUpgrade Initializing",
  },
  "the first step after it": {
    given: { reason: "Initializing", reasonAgo: 4, batch: "none" },
    want: "Progressing 1 StepUpgrade InRolling",
  },
  "a step whose pods are not ready": {
    given: { canary: { currentStepState: "StepUpgrade" }, batch: { state: "Verifying" } },
    want: "Progressing 1 StepUpgrade InRolling",
  },
  "a step whose pods are ready": {
    given: { canary: { currentStepState: "StepUpgrade" } },
    want: "Progressing 1 StepPaused InRolling",
  },
  "a step that waits for approval": { given: { canary: {} }, want: "Progressing 1 StepPaused InRolling" },
  "a step that is approved": {
    given: { canary: { currentStepState: "StepReady" } },
    want: "Progressing 2 StepUpgrade InRolling",
  },
  "a pause that lasts": {
    given: { canary: { currentStepIndex: 2, nextStepIndex: 3 }, batch: { step: 2 } },
    want: "Progressing 2 StepPaused InRolling",
  },
  "a pause that is over": {
    given: { canary: { currentStepIndex: 2, nextStepIndex: 3, lastUpdateTime: ago(61) }, batch: { step: 2 } },
    want: "Progressing 3 StepUpgrade InRolling",
  },
  "a last step of all pods, which does not wait": {
    given: {
      canary: { currentStepIndex: 3, nextStepIndex: -1, currentStepState: "StepUpgrade" },
      batch: { step: 3 },
    },
    want: "Progressing 3 Completed Finalising",
  },
  "a jump": { given: { canary: { nextStepIndex: 3 } }, want: "Progressing 3 StepUpgrade InRolling" },
  "a step that does not exist, which is corrected": {
    given: { canary: { nextStepIndex: 9 } },
    want: "Progressing 1 StepPaused InRolling",
  },
  "a pause of the strategy": {
    given: { canary: {}, spec: { strategy: { paused: true, canary: { steps: STEPS } } } },
    want: "Progressing 1 StepPaused Paused",
  },
  "a template that is the previous one": {
    given: { canary: {}, workload: { updateRevision: "aaa", isReturning: true } },
    want: "Progressing 1 StepPaused Cancelling",
  },
  "one that returns in steps": {
    given: {
      canary: { currentStepIndex: 2 },
      workload: { updateRevision: "aaa", isReturning: true },
      annotations: { "rollouts.kruise.io/rollback-in-batch": "true" },
    },
    want: "Progressing 1 StepUpgrade InRolling",
  },
  "a newer template, once the batch is gone": {
    given: { canary: { currentStepIndex: 2 }, workload: { updateRevision: "ccc" }, batch: "none" },
    want: "Progressing 0 - Initializing",
  },
  "a complete release": {
    given: { reason: "Finalising", canary: { currentStepState: "Completed" }, batch: "none" },
    want: "Healthy 1 Completed Completed",
  },
};
test.each(Object.entries(cases))("%s", (_name, { given, want }) => {
  expect(standingOf(planRollout(makeInput(given)))).toBe(want);
});

describe("its BatchRelease", () => {
  test("may go as far as the step", () => {
    const { batch } = planRollout(makeInput({ canary: { currentStepState: "StepReady" } }));

    expect(batch).toMatchObject({ spec: { releasePlan: { batchPartition: 1, rolloutID: "bbb" } } });
  });

  test("is removed before a newer template begins", () => {
    expect(planRollout(makeInput({ canary: {}, workload: { updateRevision: "ccc" } })).batch).toBe("absent");
  });

  test("gives the workload back at the end, and is removed when it has", () => {
    const given: Given = { reason: "Finalising", canary: { currentStepState: "Completed" } };

    const first = planRollout(makeInput(given));
    const last = planRollout(makeInput({ ...given, batch: { partition: null, phase: "Completed" } }));

    expect(first).toMatchObject({ batch: { spec: { releasePlan: { finalizingPolicy: "WaitResume" } } } });
    expect(first.batch).not.toHaveProperty("spec.releasePlan.batchPartition");
    expect(last.batch).toBe("absent");
  });
});

test("a workload whose newest spec is not observed changes nothing", () => {
  const input = makeInput({ canary: {}, workload: { isObserved: false } });

  const { status, requeueAfterMs } = planRollout(input);

  expect([status, requeueAfterMs]).toEqual([input.rollout.status, 3_000]);
});

test("a Rollout that is deleted ends when the workload is given back", () => {
  const given: Given = { canary: {}, deleted: true };
  const terminating = (plan: ReturnType<typeof planRollout>): string | undefined =>
    plan.status.conditions?.find(({ type }) => type === "Terminating")?.reason;

  expect(terminating(planRollout(makeInput(given)))).toBe("InTerminating");
  expect(terminating(planRollout(makeInput({ ...given, batch: "none" })))).toBe("Completed");
});
