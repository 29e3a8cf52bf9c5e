/**
 * Carries a Rollout out on one cluster, as kruise-rollout does: phases, steps, pauses, rollback, continuous release. Pure.
 *
 * The state of a release is in the status, so a controller that starts again continues there. Each step asks a BatchRelease
 * to update the pods; at the end it gives the workload back.
 */
import { fnv1a32, scaledValue } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { BatchReleaseSpec } from "@flotilla/apimachinery/facts/rollouts-kruise-v1beta1.ts";
import type { BatchRelease } from "../batchrelease/batchrelease-kind.ts";
import { planHash } from "../batchrelease/plan-batch.ts";
import type { Rollout } from "./rollout-kind.ts";
import { ROLLBACK_IN_BATCH, ROLLOUT_ID } from "../released-workload/rollout-names.ts";
import type { ReleasedWorkload } from "../released-workload/released-workload.ts";
import { nextStep, stepsOf } from "./rollout-strategy.ts";

type Read = DeepReadonly<Rollout>;
type Status = NonNullable<Rollout["status"]>;
type Conditions = NonNullable<Status["conditions"]>;
type Canary = NonNullable<Status["canaryStatus"]>;

export interface RolloutInput {
  readonly rollout: Read;
  /** Undefined if it does not exist. */
  readonly workload: ReleasedWorkload | undefined;
  /** The BatchRelease of the Rollout, if there is one. */
  readonly batch: DeepReadonly<BatchRelease> | undefined;
  readonly nowMs: number;
}

export interface RolloutPlan {
  readonly status: Status;
  /** What the BatchRelease is to be: a spec to create or update, or none. Unset: it stays. */
  readonly batch?: { readonly spec: BatchReleaseSpec; readonly annotations?: Record<string, string> } | "absent";
  /** Ends the hold of the webhook on the workload. */
  readonly releasesWorkload?: boolean;
  /** A message of an event. */
  readonly event?: string;
  readonly requeueAfterMs?: number;
}

/** Upstream waits so long for edits of Rollout and workload that belong together. */
const GRACE_MS = 3_000;

/** What is planned so far; `status` is a copy that is changed. */
interface Draft {
  readonly input: RolloutInput;
  readonly status: Status;
  readonly now: string;
  plan: Omit<RolloutPlan, "status">;
}

export function planRollout(input: RolloutInput): RolloutPlan {
  const { rollout, workload, nowMs } = input;
  const status = structuredClone((rollout.status ?? { currentStepIndex: 0, currentStepState: "" }) as Status);
  const draft: Draft = { input, status, now: formatTime(nowMs), plan: {} };
  status.observedGeneration = rollout.metadata.generation;
  status.phase ??= "Initial";
  if (rollout.metadata.deletionTimestamp !== undefined) terminate(draft);
  else if (rollout.spec.disabled && status.phase !== "Disabled") disable(draft);
  else if (!workload) {
    if (!rollout.spec.disabled) return { status: withoutWorkload(rollout) };
  } else if (!workload.isObserved)
    return { status: structuredClone((rollout.status ?? status) as Status), requeueAfterMs: GRACE_MS };
  else run(draft, workload);
  const { canaryStatus } = status;
  if (canaryStatus) {
    status.currentStepIndex = canaryStatus.currentStepIndex ?? 0;
    status.currentStepState = canaryStatus.currentStepState;
  }
  return { ...draft.plan, status };
}

const withoutWorkload = ({ metadata }: Read): Status => ({
  observedGeneration: metadata.generation,
  phase: "Initial",
  message: "Workload Not Found",
  currentStepIndex: 0,
  currentStepState: "",
});

function run(draft: Draft, workload: ReleasedWorkload): void {
  const { status, input } = draft;
  const { rollout } = input;
  const canary = status.canaryStatus;
  if (canary && canary.canaryRevision !== "" && canary.canaryRevision === workload.updateRevision) {
    canary.observedRolloutID = rolloutId(workload);
    canary.observedWorkloadGeneration = workload.object.metadata.generation;
  }
  if (status.phase === "Disabled" && !rollout.spec.disabled) healthy(status);
  if (status.phase === "Initial") healthy(status);
  if (status.phase === "Healthy") {
    if (workload.isInProgress) {
      status.phase = "Progressing";
      setProgressing(draft, "True", "Initializing", "the release begins");
      status.conditions = (status.conditions ?? []).filter(({ type }) => type !== "Succeeded");
    } else if (!canary) {
      const count = stepsOf(rollout.spec.strategy).length;
      status.canaryStatus = {
        ...newStep(draft, workload, count),
        canaryRevision: workload.updateRevision,
        currentStepState: "Completed",
      };
      status.message = "workload deployment is completed";
    }
  }
  if (status.phase === "Progressing") progress(draft, workload);
}

function healthy(status: Status): void {
  status.phase = "Healthy";
  status.message = "rollout is healthy";
}

const newStep = ({ input: { rollout }, now }: Draft, workload: ReleasedWorkload, step: number): Canary => ({
  observedWorkloadGeneration: workload.object.metadata.generation,
  observedRolloutID: rolloutId(workload),
  rolloutHash: stepsHash(rollout),
  stableRevision: workload.stableRevision,
  podTemplateHash: workload.updateRevision,
  canaryRevision: workload.updateRevision,
  canaryReplicas: 0,
  canaryReadyReplicas: 0,
  currentStepIndex: step,
  nextStepIndex: nextStep(rollout.spec.strategy, step),
  currentStepState: "BeforeStepUpgrade",
  finalisingStep: "",
  lastUpdateTime: now,
});

/** A release has the name that the user gives it, or that of its revision. As upstream, the webhook reads an annotation. */
function rolloutId({ object, updateRevision, isReturning }: ReleasedWorkload): string {
  const named = object.metadata.labels?.[ROLLOUT_ID] ?? "";
  return named === "" ? `${isReturning ? "rollback-" : ""}${updateRevision}` : named;
}

/** Of what a step does; how long it pauses may change at any time. */
const stepsHash = ({ spec }: Read): string =>
  fnv1a32(JSON.stringify(stepsOf(spec.strategy).map(({ pause: _pause, ...step }) => step))).toString(16);

function progress(draft: Draft, workload: ReleasedWorkload): void {
  const { status, input, now } = draft;
  const { rollout, nowMs } = input;
  const reason = status.conditions?.find(({ type }) => type === "Progressing")?.reason;
  switch (reason) {
    case "Initializing": {
      status.canaryStatus = newStep(draft, workload, 1);
      const since = status.conditions?.find(({ type }) => type === "Progressing")?.lastUpdateTime ?? now;
      const leftMs = Date.parse(since) + GRACE_MS - nowMs;
      if (leftMs > 0) return void (draft.plan = { requeueAfterMs: leftMs });
      setProgressing(draft, "True", "InRolling", "the release is in progress");
      return roll(draft, workload, status.canaryStatus);
    }
    case "Paused":
      if (rollout.spec.strategy.paused) return;
      setProgressing(draft, "True", "InRolling", "the release was resumed");
      return progress(draft, workload);
    case "Finalising":
    case "Cancelling":
      return finish(draft, reason === "Finalising");
    case "Completed":
      return void (status.phase = "Healthy");
    default:
      return status.canaryStatus ? roll(draft, workload, status.canaryStatus) : void (status.phase = "Healthy");
  }
}

function roll(draft: Draft, workload: ReleasedWorkload, canary: Canary): void {
  const { status, input, now } = draft;
  const { rollout, batch } = input;
  const isNew = canary.canaryRevision !== "" && workload.updateRevision !== canary.canaryRevision;
  const inSteps =
    rollout.metadata.annotations?.[ROLLBACK_IN_BATCH] === "true" && rollout.spec.workloadRef.kind !== "DaemonSet";
  if (isNew && workload.isReturning && !inSteps) {
    canary.canaryRevision = workload.updateRevision;
    draft.plan = { event: "workload has been rollback, then rollout is canceled" };
    setProgressing(draft, "True", "Cancelling", "the workload has returned to the revision before");
    return finish(draft, false);
  }
  if (rollout.spec.strategy.paused)
    return setProgressing(draft, "True", "Paused", "the release is paused: spec.strategy.paused");
  if (isNew && workload.isReturning) {
    status.canaryStatus = { ...newStep(draft, workload, 1), stableRevision: canary.stableRevision };
    return step(draft, workload, status.canaryStatus);
  }
  if (isNew) {
    if (batch)
      return void (draft.plan = {
        batch: "absent",
        event: "workload continuous publishing canaryRevision, then restart publishing",
      });
    delete status.canaryStatus;
    setProgressing(draft, "True", "Initializing", "the template has changed; the release begins again");
    return void (draft.plan = { requeueAfterMs: GRACE_MS });
  }
  if (canary.rolloutHash !== undefined && canary.rolloutHash !== stepsHash(rollout)) {
    canary.rolloutHash = stepsHash(rollout);
    canary.lastUpdateTime = now;
    moveTo(draft, canary, stepFor(draft, workload, canary), workload);
  }
  step(draft, workload, canary);
}

/** After an edit of the steps: the present one if it updates as many pods, otherwise the first that does. */
function stepFor({ input: { rollout, batch } }: Draft, { replicas }: ReleasedWorkload, canary: Canary): number {
  const steps = stepsOf(rollout.spec.strategy);
  const { batches = [], batchPartition = 0 } = batch?.spec.releasePlan ?? {};
  const share = batches[batchPartition]?.canaryReplicas;
  if (share === undefined) return 1;
  const reached = scaledValue(share, replicas, { roundUp: true });
  const order = [canary.currentStepIndex ?? 1, ...steps.map((_, index) => index + 1)].filter(
    (at) => at >= 1 && at <= steps.length,
  );
  return (
    order.find((at) => scaledValue(steps[at - 1]?.replicas ?? 0, replicas, { roundUp: true }) >= reached) ??
    steps.length
  );
}

/** A step whose pods are updated already is not updated again. */
function moveTo({ input: { rollout }, now }: Draft, canary: Canary, to: number, { replicas }: ReleasedWorkload): void {
  const target = stepsOf(rollout.spec.strategy)[to - 1];
  const pods = scaledValue(target?.replicas ?? 0, replicas, { roundUp: true });
  canary.currentStepIndex = to;
  canary.nextStepIndex = nextStep(rollout.spec.strategy, to);
  canary.currentStepState = pods === canary.canaryReplicas ? "StepTrafficRouting" : "BeforeStepUpgrade";
  canary.lastUpdateTime = now;
}

function step(draft: Draft, workload: ReleasedWorkload, canary: Canary): void {
  const { status, input, now } = draft;
  const { rollout, batch, nowMs } = input;
  const steps = stepsOf(rollout.spec.strategy);
  if (batch?.status?.canaryStatus) {
    canary.canaryReplicas = batch.status.canaryStatus.updatedReplicas ?? 0;
    canary.canaryReadyReplicas = batch.status.canaryStatus.updatedReadyReplicas ?? 0;
    canary.message =
      `BatchRelease is at state ${batch.status.canaryStatus.batchState ?? ""}, rollout-id ` +
      `${batch.status.observedRolloutID ?? ""}, step ${batch.status.canaryStatus.currentBatch + 1}`;
  }
  const usual = nextStep(rollout.spec.strategy, canary.currentStepIndex ?? 1);
  if (canary.nextStepIndex !== usual) {
    if (canary.nextStepIndex > 0 && canary.nextStepIndex <= steps.length)
      moveTo(draft, canary, canary.nextStepIndex, workload);
    else canary.nextStepIndex = usual;
  }
  // Each turn ends a state; a step has a handful of them.
  for (let turn = 0; turn <= (steps.length + 1) * 6; turn++) {
    const at = canary.currentStepIndex ?? 1;
    const present = steps[at - 1];
    const to = (state: string): void => {
      canary.currentStepState = state;
      canary.lastUpdateTime = now;
    };
    switch (canary.currentStepState) {
      case "StepUpgrade": {
        say(draft, `Rollout is in step(${at}/${steps.length}), and upgrade workload to new version`);
        const wanted = batchFor(draft, workload, at);
        const ready = isBatchReady(batch, wanted, at);
        if (!ready) return void (draft.plan = { ...draft.plan, batch: wanted });
        canary.podTemplateHash = workload.updateRevision;
        draft.plan = { ...draft.plan, event: `upgrade step(${at}) canary pods with new versions done` };
        to("StepTrafficRouting");
        break;
      }
      case "StepTrafficRouting":
        to("StepMetricsAnalysis");
        break;
      case "StepMetricsAnalysis":
        to("StepPaused");
        break;
      case "StepPaused": {
        if (at === steps.length && present?.replicas === "100%") {
          to("StepReady");
          break;
        }
        const seconds = present?.pause?.duration;
        if (seconds === undefined)
          return say(
            draft,
            `Rollout is in step(${at}/${steps.length}), and you need manually confirm to enter the next step`,
          );
        say(
          draft,
          `Rollout is in step(${at}/${steps.length}), and wait duration(${seconds} seconds) to enter the next step`,
        );
        const leftMs = Date.parse(canary.lastUpdateTime ?? now) + seconds * 1000 - nowMs;
        if (leftMs > 0) return void (draft.plan = { ...draft.plan, requeueAfterMs: leftMs });
        to("StepReady");
        break;
      }
      case "StepReady":
        if (at >= steps.length) {
          to("Completed");
          break;
        }
        canary.currentStepIndex = at + 1;
        canary.nextStepIndex = nextStep(rollout.spec.strategy, at + 1);
        to("BeforeStepUpgrade");
        break;
      case "Completed":
        setProgressing(draft, "True", "Finalising", "all steps are complete, and the workload is given back");
        status.canaryStatus = canary;
        return finish(draft, true);
      default:
        to("StepUpgrade");
    }
  }
}

type Wanted = Exclude<RolloutPlan["batch"], "absent" | undefined>;

function batchFor({ input: { rollout } }: Draft, workload: ReleasedWorkload, at: number): Wanted {
  const { workloadRef, strategy } = rollout.spec;
  const { canary } = strategy;
  const annotation = workload.isReturning ? rollout.metadata.annotations?.[ROLLBACK_IN_BATCH] : undefined;
  return {
    annotations: annotation === undefined ? undefined : { [ROLLBACK_IN_BATCH]: annotation },
    spec: {
      workloadRef: { ...workloadRef },
      releasePlan: {
        batches: stepsOf(strategy).map(({ replicas }) => ({ canaryReplicas: replicas ?? "100%" })),
        rolloutID: rolloutId(workload),
        batchPartition: at - 1,
        failureThreshold: canary?.failureThreshold,
        rollingStyle: canary?.enableExtraWorkloadForCanary ? "Canary" : "Partition",
        enableExtraWorkloadForCanary: canary?.enableExtraWorkloadForCanary ?? false,
      },
    },
  };
}

/** The BatchRelease has carried out this plan up to this step. */
function isBatchReady(batch: RolloutInput["batch"], { spec }: Wanted, at: number): boolean {
  const { releasePlan } = batch?.spec ?? {};
  return (
    batch?.status !== undefined &&
    batch.metadata.deletionTimestamp === undefined &&
    releasePlan !== undefined &&
    planHash(releasePlan) === planHash(spec.releasePlan) &&
    releasePlan.batchPartition === spec.releasePlan.batchPartition &&
    batch.status.observedGeneration === batch.metadata.generation &&
    batch.status.observedReleasePlanHash === planHash(releasePlan) &&
    batch.status.canaryStatus?.batchState === "Ready" &&
    batch.status.canaryStatus.currentBatch + 1 >= at
  );
}

/** Ends a release: the workload gets all pods of its template, then its BatchRelease is deleted. True when done. */
function giveBack(draft: Draft, waits: boolean): boolean {
  const { status, input } = draft;
  const { batch, workload } = input;
  const canary = status.canaryStatus;
  if (!canary) return true;
  const releasesWorkload = workload?.isInProgress ?? false;
  const { event } = draft.plan;
  if (!batch) {
    canary.finalisingStep = "END";
    draft.plan = { event, releasesWorkload };
    return true;
  }
  const { releasePlan } = batch.spec;
  if (batch.metadata.deletionTimestamp !== undefined) {
    canary.finalisingStep = "ReleaseWorkloadControl";
    draft.plan = { event, releasesWorkload };
  } else if (releasePlan.batchPartition === undefined && batch.status?.phase === "Completed") {
    canary.finalisingStep = "ReleaseWorkloadControl";
    draft.plan = { event, releasesWorkload, batch: "absent" };
  } else {
    canary.finalisingStep = "ResumeWorkload";
    const { batchPartition: _open, ...plan } = releasePlan;
    const finalizingPolicy = waits ? "WaitResume" : "Immediate";
    const spec = { ...batch.spec, releasePlan: { ...plan, finalizingPolicy } } as BatchReleaseSpec;
    draft.plan = { event, releasesWorkload, batch: { spec, annotations: { ...batch.metadata.annotations } } };
  }
  return false;
}

function finish(draft: Draft, isComplete: boolean): void {
  const { status } = draft;
  if (!giveBack(draft, isComplete)) return;
  setProgressing(draft, "False", "Completed", isComplete ? "the release is complete" : "the release was canceled");
  setCondition(draft, { type: "Succeeded", status: isComplete ? "True" : "False", reason: "", message: "" });
  status.phase = "Healthy";
}

function disable(draft: Draft): void {
  const { status } = draft;
  if (status.phase === "Progressing") {
    status.phase = "Disabling";
    status.message = "Disabling rollout, release resources";
  }
  if (status.phase === "Disabling" && !giveBack(draft, false)) return;
  status.phase = "Disabled";
  status.message = "Rollout is disabled";
}

function terminate(draft: Draft): void {
  const { status } = draft;
  status.phase = "Terminating";
  const isDone = giveBack(draft, false);
  setCondition(draft, {
    type: "Terminating",
    status: isDone ? "False" : "True",
    reason: isDone ? "Completed" : "InTerminating",
    message: "the Rollout is deleted, and its workload is given back",
  });
}

export const isTerminated = ({ conditions = [] }: DeepReadonly<Status>): boolean =>
  conditions.some(({ type, reason }) => type === "Terminating" && reason === "Completed");

function say(draft: Draft, message: string): void {
  setProgressing(draft, "True", "InRolling", message);
}

function setProgressing(draft: Draft, status: string, reason: string, message: string): void {
  setCondition(draft, { type: "Progressing", status, reason, message });
  draft.status.message = message;
}

function setCondition(
  { status, now }: Draft,
  given: Pick<Conditions[number], "type" | "status" | "reason" | "message">,
): void {
  const { type } = given;
  const conditions = status.conditions ?? [];
  const before = conditions.find((each) => each.type === type);
  if (before && before.status === given.status && before.reason === given.reason && before.message === given.message)
    return;
  const next = {
    ...given,
    lastUpdateTime: now,
    lastTransitionTime: before?.status === given.status ? before.lastTransitionTime : now,
  };
  status.conditions = before ? conditions.map((each) => (each.type === type ? next : each)) : [...conditions, next];
}
