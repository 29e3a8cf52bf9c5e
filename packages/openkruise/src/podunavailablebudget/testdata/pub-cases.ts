/**
 * Runs PodUnavailableBudgets on recorded inputs and returns results in the format of the recordings
 * (`openkruise-pub.jsonl`). Only for tests and `npm run golden`.
 */
import { PodUnavailableBudget } from "../podunavailablebudget-kind.ts";
import { controllerOf } from "@flotilla/apimachinery";
import type { PubOperation } from "../podunavailablebudget-types.ts";
import { TerminalError, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { checkBudget, isUnprotected } from "../check-budget.ts";
import { RELATED_BUDGET_ANNOTATION, canResizeInPlace, isConsistent, isServing, mayBecomeUnavailable } from "../budget-pod-state.ts";
import type { ReadonlyBudget } from "../budget-pod-state.ts";
import { scopeOf } from "../budget-scope.ts";
import type { Workload } from "../budget-scope.ts";
import { planBudgetStatus } from "../podunavailablebudget-status.ts";
import { changesOf } from "../../testdata/changes.ts";
import { RECORDED_AT, gatesOf } from "../../testdata/read-cases.ts";
import type { AlphaCloneSet, GatedInput, RecordedRun } from "../../testdata/read-cases.ts";

/** The recordings use v1alpha1. */
const stored = (budget: JsonObject): ReadonlyBudget => PodUnavailableBudget.versions["v1alpha1"]?.toStorage?.(budget) as unknown as ReadonlyBudget;

/** Go omits empty maps. */
function shownStatus(status: object | undefined): object {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => typeof value !== "object" || Object.keys(value as object).length > 0));
}

interface StatusInput {
  pub: JsonObject;
  pods?: ReadonlyPod[];
  cloneSets?: AlphaCloneSet[];
}

function workloadsIn(pods: readonly ReadonlyPod[], cloneSets: readonly AlphaCloneSet[]): Parameters<typeof scopeOf>[1] {
  const workloadOf = ({ metadata, spec }: AlphaCloneSet): Workload => ({ uid: metadata.uid ?? "", replicas: Number(spec["replicas"]), ownerUids: [metadata.uid ?? ""] });
  return {
    selected: (matches) => pods.filter(matches),
    ownedBy: (uid) => pods.filter((pod) => controllerOf(pod)?.uid === uid),
    workload: (ref) => {
      const found = ref.kind === "CloneSet" && ref.apiVersion.startsWith("apps.kruise.io/") ? cloneSets.find(({ metadata }) => metadata.name === ref.name) : undefined;
      return found && workloadOf(found);
    },
  };
}

export const budgetCases: Readonly<Record<string, RecordedRun>> = {
  status: ({ pub, pods = [], cloneSets = [], gates }: GatedInput & StatusInput) => {
    const budget = stored(pub);
    const scope = scopeOf(budget, workloadsIn(pods, cloneSets));
    try {
      const plan = planBudgetStatus({ budget, ...scope, gates: gatesOf(gates), nowMs: RECORDED_AT });
      const marked = scope.pods.filter(({ metadata }) => !metadata.annotations?.[RELATED_BUDGET_ANNOTATION]);
      const changed = marked.map((pod) => [pod.metadata.name, changesOf(pod, { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [RELATED_BUDGET_ANNOTATION]: budget.metadata.name } } })]);
      return { changed: Object.fromEntries(changed), status: plan.status, ...defined({ recheckAfterSeconds: plan.againInMs === undefined ? undefined : (plan.againInMs - 1) / 1000 }) };
    } catch (error) {
      if (error instanceof TerminalError) return { error: "invalid value for IntOrString: invalid type: string is not a percentage" };
      throw error;
    }
  },

  check: ({ pub, pod, operation, dryRun, gates: changes }: GatedInput & { pub: JsonObject; pod: ReadonlyPod; operation: PubOperation; dryRun?: boolean }) => {
    const gates = gatesOf(changes);
    const budget = stored(pub);
    const isItsOwn = pod.metadata.annotations?.[RELATED_BUDGET_ANNOTATION] === budget.metadata.name;
    const verdict = isUnprotected(pod, gates) || !isItsOwn ? { allowed: true as const } : checkBudget(budget, pod, operation, gates, RECORDED_AT);
    const after = verdict.allowed && verdict.status && !dryRun ? verdict.status : budget.status;
    return {
      allowed: verdict.allowed,
      error: null,
      reason: verdict.allowed ? "" : verdict.reason,
      status: shownStatus(after),
      events: verdict.allowed ? [] : ["Warning PubPreventPodDeletion openkruise pub prevents pod deletion"],
    };
  },

  podChange: ({ oldPod, pod, gates }: GatedInput & { oldPod: ReadonlyPod; pod: ReadonlyPod }) => ({
    unavailableChanged: mayBecomeUnavailable(oldPod, pod),
    canResizeInPlace: canResizeInPlace(oldPod, pod),
    ready: isServing(pod),
    consistent: isConsistent(pod, gatesOf(gates)),
  }),
};
