/**
 * Decides which events a decision emits, on the binding and on its template. Pure.
 *
 * A failure is reported when it starts or changes, a success when it ends a failure. The binding's status records the
 * last report, also across restarts; until it is written, the caller keeps it in memory. Messages are Karmada's.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import type { SchedulePlan } from "./plan-schedule.ts";

type Binding = DeepReadonly<ResourceBinding>;

/** What was reported about a binding. */
export interface Reported {
  /** Why it is unschedulable; undefined when it is scheduled, or nothing was reported. */
  readonly failure: string | undefined;
  readonly affinityName: string | undefined;
}

export function reportedBy({ status }: Binding): Reported {
  const condition = findCondition(status?.conditions, "Scheduled");
  return {
    failure: condition?.status === "False" ? (condition.message ?? "") : undefined,
    affinityName: status?.schedulerObservingAffinityName,
  };
}

/** What is reported after the decision. */
export function planReported(plan: SchedulePlan, before: Reported): Reported {
  if (plan.outcome === "unschedulable") return { ...before, failure: plan.message };
  return {
    failure: undefined,
    affinityName: plan.outcome === "scheduled" ? (plan.affinityName ?? before.affinityName) : before.affinityName,
  };
}

/** `binding` as of the decision. */
export function planEvents(binding: Binding, plan: SchedulePlan, before = reportedBy(binding)): RecordedEvent[] {
  if (plan.outcome === "unschedulable")
    return before.failure !== undefined && isAlike(before.failure, plan.message) ? [] : [failed(plan.message)];
  const isFallback = plan.outcome === "scheduled" && plan.affinityName !== before.affinityName;
  return [
    ...(isFallback ? plan.failedTerms.map(({ name, message }) => failed(renderTerm(binding, name, message))) : []),
    ...(before.failure === undefined
      ? []
      : [succeeded(binding, plan.outcome === "scheduled" ? plan.clusters : (binding.spec.clusters ?? []))]),
  ];
}

const failed = (message: string): RecordedEvent => ({ type: "Warning", reason: "ScheduleBindingFailed", message });

/** Capacity and clusters are counted again at every attempt; another insufficient number is not reported again. */
function isAlike(a: string, b: string): boolean {
  const withoutNumbers = (message: string): string => message.replaceAll(/\d+/g, "#");
  return a === b || withoutNumbers(a) === withoutNumbers(b);
}

function renderTerm({ kind, metadata: { namespace, name }, spec }: Binding, term: string, message: string): string {
  const index = spec.placement?.clusterAffinities?.findIndex(({ affinityName }) => affinityName === term) ?? 0;
  return `failed to schedule ${kind}(${namespace ? `${namespace}/` : ""}${name}) with clusterAffiliates index(${index}): ${message}`;
}

/** `member1:5, member2:3` */
export function renderPlaced(clusters: readonly { readonly name: string; readonly replicas?: number }[]): string {
  return clusters.map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(", ");
}

function succeeded(
  { metadata }: Binding,
  clusters: readonly { readonly name: string; readonly replicas?: number }[],
): RecordedEvent {
  // Upstream's messages for the two kinds of binding differ by a colon.
  return {
    type: "Normal",
    reason: "ScheduleBindingSucceed",
    message: `Binding has been scheduled successfully. Result${metadata.namespace ? ":" : ""} {${renderPlaced(clusters)}}`,
  };
}
