/** Reads the strategy of a Rollout (v1beta1). Pure. */
import type { DeepReadonly } from "@flotilla/base";
import { parseApiVersion } from "@flotilla/apimachinery";
import type {
  CanaryStep,
  ObjectRef,
  RolloutStrategy,
  TrafficRoutingRef,
} from "@flotilla/apimachinery/facts/rollouts-kruise-v1beta1.ts";
import type { Rollout } from "./rollout-kind.ts";

type Read<T> = DeepReadonly<T>;
type Strategy = Read<RolloutStrategy>;

export type RollingStyle = "Partition" | "Canary" | "BlueGreen";

/** A canary beside the workload exists for Deployments only; other kinds are updated by their partition. */
export function styleOf({ spec }: Read<Pick<Rollout, "spec">>): RollingStyle {
  const { blueGreen, canary } = spec.strategy;
  if (blueGreen) return "BlueGreen";
  return canary?.enableExtraWorkloadForCanary && isDeployment(spec.workloadRef) ? "Canary" : "Partition";
}

export const stepsOf = ({ blueGreen, canary }: Strategy): readonly Read<CanaryStep>[] =>
  (blueGreen ?? canary)?.steps ?? [];

export const routingsOf = ({ blueGreen, canary }: Strategy): readonly Read<TrafficRoutingRef>[] =>
  (blueGreen ?? canary)?.trafficRoutings ?? [];

/** The step after a step; -1 after the last one. */
export const nextStep = (strategy: Strategy, index: number): number =>
  index >= stepsOf(strategy).length || index < 1 ? -1 : index + 1;

export const routesRequests = ({ traffic, matches }: Read<CanaryStep>): boolean =>
  traffic !== undefined || (matches?.length ?? 0) > 0;

export const isDeployment = ({ apiVersion, kind }: Read<Pick<ObjectRef, "apiVersion" | "kind">>): boolean =>
  parseApiVersion(apiVersion).group === "apps" && kind === "Deployment";

/** The kinds that kruise-rollout can release, by group. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  apps: ["Deployment", "StatefulSet"],
  "apps.kruise.io": ["CloneSet", "StatefulSet", "DaemonSet"],
};

export const isSupported = ({ apiVersion, kind }: Read<Pick<ObjectRef, "apiVersion" | "kind">>): boolean =>
  SUPPORTED[parseApiVersion(apiVersion).group]?.includes(kind) ?? false;

/** Whether a Rollout names a workload. The version does not matter. */
export const leads = (
  { spec }: Read<Pick<Rollout, "spec">>,
  workload: { readonly apiVersion: string; readonly kind: string; readonly metadata: { readonly name: string } },
): boolean => {
  const { apiVersion, kind, name } = spec.workloadRef;
  return (
    name === workload.metadata.name &&
    kind === workload.kind &&
    parseApiVersion(apiVersion).group === parseApiVersion(workload.apiVersion).group
  );
};
