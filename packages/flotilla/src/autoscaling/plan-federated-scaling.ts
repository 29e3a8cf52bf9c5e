/**
 * The size that a FederatedHPA wants for its template, from the figures of the members. Pure.
 *
 * Members whose pods or metrics could not be read are handled as the annotation `flotilla.dev/missing-metrics` says:
 *
 * - `conservative`, the default: their replicas count as pods without metrics: unused when the fleet scales up; when
 *   it scales down at the target, or at all of what they request if the target is a lower utilization. So a lost member
 *   neither stalls the autoscaler nor makes it scale down.
 * - `ignore`: the other members stand for all.
 * - `hold`: the template is not scaled until all members answer.
 */
import type { DeepReadonly } from "@flotilla/base";
import { planScaling } from "@flotilla/kubernetes";
import type { MetricValue, MetricValues, ReadonlyPod, ScalingMoment, ScalingPlan } from "@flotilla/kubernetes";
import type { FederatedHpa, ResourceBinding } from "@flotilla/karmada";
import { metricId } from "./member-figures.ts";
import type { MemberFigures } from "./member-figures.ts";
import { MISSING_METRICS } from "../flotilla-names.ts";

export type ReadonlyFederatedHpa = DeepReadonly<FederatedHpa>;

export const MISSING_METRICS_POLICIES = ["conservative", "ignore", "hold"] as const;
type MissingMetricsPolicy = (typeof MISSING_METRICS_POLICIES)[number];

function missingMetricsPolicy({ metadata }: ReadonlyFederatedHpa): MissingMetricsPolicy {
  const value = metadata.annotations?.[MISSING_METRICS];
  return MISSING_METRICS_POLICIES.find((policy) => policy === value) ?? "conservative";
}

/** Members named in a condition. */
const MAX_NAMED = 5;

export interface FederatedScalingInput extends ScalingMoment {
  autoscaler: ReadonlyFederatedHpa;
  figures: readonly MemberFigures[];
  /** Whether the members share the replicas of the template; if not, each of them runs all replicas. */
  isDivided: boolean;
}

export function planFederatedScaling(input: FederatedScalingInput): ScalingPlan {
  const { autoscaler, scale, history, nowMs, figures } = input;
  const policy = missingMetricsPolicy(autoscaler);
  const silent = figures.filter(({ problems }) => problems.length > 0);
  const missing = describeMissing(silent);
  if (policy === "hold" && silent.length > 0) return held(missing);
  const counted = policy === "ignore" ? figures.filter(({ problems }) => problems.length === 0) : figures;
  const pods = podsOfMembers(counted);
  const plan = planScaling({
    autoscaler,
    cluster: "",
    scale,
    history,
    nowMs,
    podsOf: () => [...pods.keys()],
    usage: { podUsage: (_cluster, pod) => pods.get(pod)?.usage?.get(pod.metadata.name) },
    values: valuesOf(counted, pods),
    podsPerReplica: podsPerReplica(counted, input),
  });
  return missing === "" ? plan : { ...plan, conditions: plan.conditions.map((found) => noting(found, missing)) };
}

function held(missing: string): ScalingPlan {
  const message = `the template is not scaled while metrics are missing, because ${MISSING_METRICS} is hold: ${missing}`;
  return {
    reason: "",
    conditions: [{ type: "ScalingActive", isTrue: false, reason: "MissingMetrics", message }],
    events: [{ type: "Warning", reason: "MissingMetrics", message }],
    recommendations: [],
  };
}

/**
 * A replica of the template is one pod of the fleet where replicas are divided, and one per member where they are not.
 * The members that are counted stand for all.
 *
 * Karmada divides the placed replicas by those of the template instead. A quota, or members without room, can keep the
 * placed replicas below the template: each evaluation then takes the same load for a larger one, up to maxReplicas.
 */
function podsPerReplica(
  counted: readonly MemberFigures[],
  { figures, isDivided }: Pick<FederatedScalingInput, "figures" | "isDivided">,
): number {
  const placed = placedOn(figures);
  const share = placed > 0 ? placedOn(counted) / placed : 0;
  return (isDivided ? 1 : figures.length) * (share > 0 ? share : 1);
}

const placedOn = (figures: readonly MemberFigures[]): number =>
  figures.reduce((sum, { replicas }) => sum + replicas, 0);

/** The pods, with the figures of their member. */
type MemberPods = ReadonlyMap<ReadonlyPod, MemberFigures>;

/** Replicas of members whose pods are unknown have the spec of a pod that is known, so that their requests count. */
function podsOfMembers(figures: readonly MemberFigures[]): MemberPods {
  const pods = new Map(figures.flatMap((member) => (member.pods ?? []).map((pod) => [pod, member] as const)));
  const [known] = pods.keys();
  if (!known) return pods;
  for (const member of figures) {
    if (member.pods) continue;
    for (let index = 0; index < member.replicas; index++) {
      const metadata = { name: `${member.cluster}/${index}`, namespace: known.metadata.namespace };
      pods.set({ ...known, metadata, status: { phase: "Running" } }, member);
    }
  }
  return pods;
}

function valuesOf(figures: readonly MemberFigures[], pods: MemberPods): MetricValues {
  const sum = (id: string): MetricValue | string => {
    const found = figures.flatMap(({ values }) => values.get(id) ?? []);
    if (found.length === 0) return "no member has it";
    return { milli: found.reduce((total, value) => total + value, 0), isPartial: found.length < figures.length };
  };
  return {
    ofPods(metric) {
      const id = metricId(metric);
      return figures.some(({ podValues }) => podValues.has(id))
        ? (pod) => pods.get(pod)?.podValues.get(id)?.get(pod.metadata.name)
        : "no member has it";
    },
    ofObject: (object, metric) => sum(metricId(metric, object)),
    external: (metric) => sum(metricId(metric)),
  };
}

type Found = ScalingPlan["conditions"][number];

/** The reason of the condition stays as upstream has it; the message also says what was not read. */
const noting = (found: Found, missing: string): Found =>
  found.type === "ScalingActive" ? { ...found, message: `${found.message}; not read: ${missing}` } : found;

function describeMissing(silent: readonly MemberFigures[]): string {
  const named = silent.slice(0, MAX_NAMED).map(({ cluster, problems }) => `${cluster} (${problems.join(", ")})`);
  const others = silent.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join("; ");
}

/** The members on which a binding places the template, with their replicas. */
export function targetsOfBinding(
  { spec }: DeepReadonly<ResourceBinding>,
  templateReplicas: number,
): { name: string; replicas: number }[] {
  const each = spec.replicas ?? templateReplicas;
  return (spec.clusters ?? []).map(({ name, replicas = each }) => ({ name, replicas }));
}

/** Replicas that no rule counts cannot be divided: each member gets the template as it is. */
export const isDividedBinding = ({ spec }: DeepReadonly<ResourceBinding>): boolean =>
  spec.replicas !== undefined && spec.placement?.replicaScheduling?.replicaSchedulingType === "Divided";
