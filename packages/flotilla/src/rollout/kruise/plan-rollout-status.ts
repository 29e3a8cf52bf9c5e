/**
 * Reports a release over the fleet in the status of the Rollout that leads it, in kruise-rollout's words, and reads from
 * that status what a person asks for: `StepReady` approves a step, another `nextStepIndex` jumps ahead. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { nextStep, ROLLOUT_ID, stepsOf } from "@flotilla/openkruise";
import type { Rollout as KruiseRollout } from "@flotilla/openkruise";
import { releaseDigest } from "../../propagation/templates/released-part.ts";
import type { FleetRollout } from "../kinds/fleet-rollout.ts";
import { closedGates } from "../plan/plan-gates.ts";
import { ROLLBACK_WAVE } from "../plan/plan-releases.ts";
import { stepOfWave, waveOfStep } from "./lead-release.ts";

type Lead = DeepReadonly<KruiseRollout>;
type Release = DeepReadonly<FleetRollout>;
export type RolloutStatus = NonNullable<KruiseRollout["status"]>;
type Conditions = NonNullable<RolloutStatus["conditions"]>;

export interface LeadInput {
  readonly rollout: Lead;
  /** Undefined if no policy propagates the workload. */
  readonly template: DeepReadonly<KubernetesObject> | undefined;
  /** The template has a partition of its own. */
  readonly hasOwnPartition: boolean;
  /** The RolloutStrategy that selects the template. */
  readonly selectedBy: string | undefined;
  /** The newest FleetRollout of the template that a strategy or a Rollout led. */
  readonly newest: Release | undefined;
  /** Why the Rollout cannot be carried over. */
  readonly refusal: string | undefined;
  /** What is different on the fleet. */
  readonly remark: string | undefined;
  readonly nowMs: number;
}

export interface LeadPlan {
  readonly status: RolloutStatus;
  /** Waves of the newest release whose gates a person opened in the status. */
  readonly promote: readonly string[];
  /** What was asked for and is not done. */
  readonly refused?: string;
}

/** Whether the Rollout leads the fleet. */
export const FLEET_WIDE = "FleetWide";

/** Where a release is, in kruise-rollout's terms. */
interface Standing {
  readonly phase: string;
  readonly message: string;
  readonly step: number;
  readonly state: string;
  readonly progressing?: { status: "True" | "False"; reason: string };
  readonly succeeded?: "True" | "False";
}

export function planRolloutStatus(input: LeadInput): LeadPlan {
  const { rollout, newest, nowMs } = input;
  const steps = stepsOf(rollout.spec.strategy);
  const asked = askedOf(rollout, newest);
  const standing = standingOf(input, asked.promote.length > 0);
  const before = rollout.status;
  const now = formatTime(nowMs);
  let conditions = (before?.conditions ?? []) as Conditions;
  if (standing.progressing)
    conditions = withCondition(
      conditions,
      { type: "Progressing", ...standing.progressing, message: standing.message },
      now,
    );
  if (standing.succeeded)
    conditions = withCondition(
      conditions,
      {
        type: "Succeeded",
        status: standing.succeeded,
        reason: "Completed",
        message: standing.succeeded === "True" ? "The release is complete." : standing.message,
      },
      now,
    );
  else conditions = conditions.filter(({ type }) => type !== "Succeeded");
  conditions = withCondition(conditions, { type: FLEET_WIDE, ...fleetWide(input) }, now);
  const status: RolloutStatus = {
    observedGeneration: rollout.metadata.generation,
    conditions,
    phase: standing.phase,
    message: standing.message,
    currentStepIndex: standing.step,
    currentStepState: standing.state,
  };
  if (newest && input.template)
    status.canaryStatus = {
      observedWorkloadGeneration: input.template.metadata.generation,
      observedRolloutID: input.template.metadata.labels?.[ROLLOUT_ID] ?? newest.metadata.name,
      stableRevision: newest.spec.previous ?? newest.metadata.name,
      canaryRevision: newest.metadata.name,
      podTemplateHash: newest.spec.revision,
      canaryReplicas: newest.status?.updated ?? 0,
      canaryReadyReplicas: newest.status?.ready ?? 0,
      currentStepIndex: standing.step,
      nextStepIndex: nextStep(rollout.spec.strategy, Math.min(standing.step, steps.length)),
      currentStepState: standing.state,
      finalisingStep: "",
      lastUpdateTime: timeOf(before, standing, newest.metadata.name, now),
    };
  return { status, ...asked };
}

const NOTHING = { promote: [] };

/** What a person wrote into the status, while it was about this release. */
function askedOf({ metadata, status, spec }: Lead, newest: Release | undefined): Pick<LeadPlan, "promote" | "refused"> {
  const written = status?.canaryStatus;
  // The gates of a RolloutStrategy are not opened here.
  if (newest?.spec.rolloutName !== metadata.name || !written || written.canaryRevision !== newest.metadata.name)
    return NOTHING;
  if (newest.status?.phase !== "Progressing" && newest.status?.phase !== "Paused") return NOTHING;
  const step = stepOfWave(newest.status.wave);
  if (step === undefined) return NOTHING;
  const to = written.nextStepIndex ?? 0;
  const usual = nextStep(spec.strategy, written.currentStepIndex ?? 0);
  if (to > 0 && to !== usual && to <= stepsOf(spec.strategy).length) {
    if (to <= step)
      return { promote: [], refused: `a release over the fleet does not return from step ${step} to step ${to}` };
    return { promote: Array.from({ length: to - step }, (_, index) => waveOfStep(step + index)) };
  }
  const isApproved = status.currentStepState === "StepReady" || written.currentStepState === "StepReady";
  return isApproved && written.currentStepIndex === step && newest.status.waveState === "After"
    ? { promote: [waveOfStep(step)] }
    : NOTHING;
}

function standingOf(input: LeadInput, isApproved: boolean): Standing {
  const { rollout, template, newest, refusal } = input;
  const { disabled, strategy } = rollout.spec;
  const count = stepsOf(strategy).length;
  const isChanged = template !== undefined && newest !== undefined && newest.spec.revision !== releaseDigest(template);
  if (!template)
    return { phase: "Initial", message: "no policy propagates the workload, or it does not exist", step: 0, state: "" };
  const end = { step: count, state: "Completed" };
  const phase = newest?.status?.phase;
  const isOpen = phase === "Progressing" || phase === "Paused" || phase === "RollingBack";
  if (disabled && !isOpen) return { phase: "Disabled", message: "the Rollout is disabled", ...end };
  if (!newest?.status?.clusters) {
    return { phase: "Initial", message: "the release of the workload is being recorded", step: 0, state: "" };
  }
  if (isChanged) {
    const message =
      refusal === undefined ? "a changed template is being recorded" : `the template is held back: ${refusal}`;
    return {
      phase: "Progressing",
      message,
      step: 1,
      state: "BeforeStepUpgrade",
      progressing: { status: "True", reason: "Initializing" },
    };
  }
  const standing = standingOfRelease(newest, strategy, isApproved);
  return disabled ? { ...standing, phase: "Disabling" } : standing;
}

function standingOfRelease(newest: Release, strategy: Lead["spec"]["strategy"], isApproved: boolean): Standing {
  const status = newest.status as NonNullable<Release["status"]>;
  const count = stepsOf(strategy).length;
  const isReturn = newest.spec.strategy?.waves[0]?.name === ROLLBACK_WAVE;
  const step = stepOfWave(status.wave) ?? count;
  const cause = status.failure?.message ?? "";
  const active = (reason: string) => ({ status: "True", reason }) as const;
  switch (status.phase) {
    case "Succeeded": {
      const end = { step: count, state: "Completed", phase: "Healthy" };
      if (newest.spec.previous === undefined) return { ...end, message: "the workload runs one revision" };
      return {
        ...end,
        message: isReturn ? "the workload has returned to the revision before" : "the release is complete",
        progressing: { status: "False", reason: "Completed" },
        succeeded: isReturn ? "False" : "True",
      };
    }
    case "Paused":
      return {
        phase: "Progressing",
        message: cause === "" ? "the release is paused" : `the release has stopped: ${cause}`,
        step,
        state: status.waveState === "After" ? "StepPaused" : "StepUpgrade",
        progressing: active("Paused"),
      };
    case "RollingBack":
      return {
        phase: "Progressing",
        message: `the release returns to ${newest.spec.previous ?? "the revision before"}: ${cause}`,
        step,
        state: "StepUpgrade",
        progressing: active("Cancelling"),
      };
    case "RolledBack":
    case "Failed":
      return {
        phase: "Progressing",
        message: `the members run ${newest.spec.previous ?? "the revision before"}, not the template of the hub: ${cause}`,
        step,
        state: "StepUpgrade",
        progressing: { status: "False", reason: "Cancelling" },
        succeeded: "False",
      };
    default:
      return {
        phase: "Progressing",
        ...(isReturn
          ? {
              message: "the workload returns to the revision before",
              step: count,
              state: "StepUpgrade",
              progressing: active("Cancelling"),
            }
          : inProgress(status, count, isApproved)),
      };
  }
}

function inProgress(
  status: NonNullable<Release["status"]>,
  count: number,
  isApproved: boolean,
): Omit<Standing, "phase"> {
  const step = stepOfWave(status.wave);
  if (step === undefined)
    return {
      message: "all steps are complete, and the rest of the pods is updated",
      step: count,
      state: "Completed",
      progressing: { status: "True", reason: "Finalising" },
    };
  const progressing = { status: "True", reason: "InRolling" } as const;
  const at = `step (${step}/${count})`;
  const closed = closedGates(status);
  if (status.waveState !== "After" || closed.length === 0)
    return { message: `${at}: the pods are updated`, step, state: "StepUpgrade", progressing };
  const [gate] = closed;
  const message =
    gate?.type === "approval"
      ? `${at}: waits for approval to enter the next step`
      : `${at}: waits, ${gate?.message ?? "for time"}`;
  return { message, step, state: isApproved ? "StepReady" : "StepPaused", progressing };
}

/** Whether it leads the fleet, and what of it is different there. */
function fleetWide(input: LeadInput): Pick<Conditions[number], "status" | "reason" | "message"> {
  const { rollout, template, hasOwnPartition, selectedBy, refusal, remark } = input;
  const no = (reason: string, message: string) => ({ status: "False", reason, message });
  if (rollout.spec.disabled) return no("Disabled", "The Rollout is disabled.");
  if (!template) return no("NotPropagated", "No policy propagates the workload.");
  if (hasOwnPartition)
    return no("OwnPartition", "The partition of the template leads its release; remove it to follow the steps.");
  if (selectedBy !== undefined)
    return no("RolloutStrategy", `The RolloutStrategy ${selectedBy} selects the workload and leads its releases.`);
  if (refusal !== undefined)
    return no("CannotBeCarriedOver", `Changes of the template are held back. The fleet has no ${refusal}.`);
  return {
    status: "True",
    reason: "StepsOverTheFleet",
    message: remark === undefined ? "Each step counts the pods of all members." : `${remark}.`,
  };
}

function withCondition(
  conditions: Conditions,
  { type, status, reason, message }: Pick<Conditions[number], "type" | "status" | "reason" | "message">,
  now: string,
): Conditions {
  const before = conditions.find((each) => each.type === type);
  if (before && before.status === status && before.reason === reason && before.message === message) return conditions;
  const next = {
    type,
    status,
    reason,
    message,
    lastUpdateTime: now,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
  };
  return before ? conditions.map((each) => (each.type === type ? next : each)) : [...conditions, next];
}

function timeOf(before: Lead["status"], { step, state }: Standing, revision: string, now: string): string {
  const written = before?.canaryStatus;
  const isSame =
    written?.currentStepIndex === step && written.currentStepState === state && written.canaryRevision === revision;
  return isSame ? (written.lastUpdateTime ?? now) : now;
}
