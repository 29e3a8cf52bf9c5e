/**
 * What a Rollout of kruise-rollout means on the hub: the strategy of the releases of one template. Each step is a wave that
 * counts the pods of the fleet, and a pause is a gate after it (docs/adr/0116). Pure.
 */
import type { DeepReadonly } from "@flotilla/base";
import { parseApiVersion } from "@flotilla/apimachinery";
import { CLUSTER_POLICY_ID, POLICY_ID } from "@flotilla/karmada";
import { nextStep, ROLLBACK_IN_BATCH, routesRequests, routingsOf, stepsOf, styleOf } from "@flotilla/openkruise";
import type { Rollout as KruiseRollout } from "@flotilla/openkruise";
import type { StrategySpec, WaveSpec } from "../kinds/strategy-fields.ts";
import type { RolloutStrategy } from "../kinds/rollout-strategy.ts";

type Lead = DeepReadonly<KruiseRollout>;
type Step = ReturnType<typeof stepsOf>[number];

const MAX_STEPS = 32;

export const waveOfStep = (index: number): string => `step-${index}`;
/** From 1; undefined for other waves. */
export function stepOfWave(wave: string | undefined): number | undefined {
  const [, index] = /^step-(\d+)$/.exec(wave ?? "") ?? [];
  return index === undefined ? undefined : Number(index);
}

/** A Rollout that a policy selects is copied to the members, and each of them releases its own pods. */
export const isForMembers = ({ metadata }: Lead): boolean =>
  [POLICY_ID, CLUSTER_POLICY_ID].some((label) => metadata.labels?.[label] !== undefined);

/** Whether it leads the releases of its workload over the fleet. */
export const leadsFleet = (rollout: Lead): boolean =>
  !rollout.spec.disabled && rollout.metadata.deletionTimestamp === undefined && !isForMembers(rollout);

const strategies = new WeakMap<object, DeepReadonly<RolloutStrategy>>();

/** The same object for the same Rollout. */
export function strategyOfLead(rollout: Lead): DeepReadonly<RolloutStrategy> {
  const known = strategies.get(rollout);
  if (known) return known;
  const { name, namespace } = rollout.metadata;
  const strategy: RolloutStrategy = {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { name, namespace },
    spec: { selector: {}, historyLimit: 10, ...stepsToWaves(rollout) },
  };
  strategies.set(rollout, strategy);
  return strategy;
}

function stepsToWaves({ spec }: Lead): StrategySpec {
  const steps = stepsOf(spec.strategy).slice(0, MAX_STEPS);
  const { canary, blueGreen } = spec.strategy;
  return {
    waves: steps.map((step, index) => waveOf(step, index + 1, nextStep(spec.strategy, index + 1) < 0)),
    order: "Spread",
    unit: "Pods",
    failure: {
      // kruise-rollout never returns by itself: a step whose pods fail stays where it is.
      action: "Pause",
      progressDeadline: "10m",
      maxUnhealthy: (canary ?? blueGreen)?.failureThreshold ?? 0,
      unhealthyFor: "15s",
      maxRestarts: 3,
      onUnreachable: "Wait",
    },
  };
}

function waveOf({ replicas, pause }: Step, index: number, isLast: boolean): WaveSpec {
  const wave: WaveSpec = { name: waveOfStep(index), pods: replicas ?? "100%" };
  const duration = pause?.duration;
  // As upstream: nothing is left to wait for.
  if (duration === 0 || (isLast && replicas === "100%")) return wave;
  return {
    ...wave,
    after: [duration === undefined ? { approval: {} } : { soak: `${duration}s` }],
  };
}

/** What of it cannot be carried out over several clusters; undefined if everything can. Its releases do not begin. */
export function refusalOf(rollout: Lead): string | undefined {
  const { strategy } = rollout.spec;
  const steps = stepsOf(strategy);
  const style = styleOf(rollout);
  if (style === "BlueGreen") return "blueGreen: a release over the fleet updates pods in place of the old ones";
  if (style === "Canary")
    return "enableExtraWorkloadForCanary: a release over the fleet has no canary Deployment beside the workload";
  const { trafficRoutingRef } = strategy.canary ?? {};
  if (routingsOf(strategy).length > 0 || steps.some(routesRequests) || trafficRoutingRef)
    return "trafficRoutings, traffic and matches: requests are routed by each cluster, and shares of them do not add up over clusters";
  if (steps.length > MAX_STEPS) return `steps: a release over the fleet has at most ${MAX_STEPS}`;
  return undefined;
}

/** What is different from a cluster, and no reason to refuse. */
export function remarkOn(rollout: Lead, hasPartition: boolean): string | undefined {
  const { apiVersion, kind } = rollout.spec.workloadRef;
  const { group } = parseApiVersion(apiVersion);
  return hasPartition
    ? undefined
    : `${kind}${group === "apps" ? "" : ` of ${group}`} has no partition that the hub divides: each step updates whole members, as few as reach its pods`;
}

export const returnsInSteps = ({ metadata }: Lead): boolean => metadata.annotations?.[ROLLBACK_IN_BATCH] === "true";
