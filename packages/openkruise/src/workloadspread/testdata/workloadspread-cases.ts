/**
 * Runs WorkloadSpreads on recorded inputs and returns results in the format of the recordings
 * (`openkruise-workloadspread.jsonl`). Only for tests and `npm run golden`.
 */
import type { Node } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isActive } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import type { RecordedRun } from "../../testdata/read-cases.ts";
import { injectSubset, matchOf, MATCHED_ANNOTATION } from "../inject-subset.ts";
import { scoreSubset } from "../match-subset.ts";
import { planWorkloadSpread } from "../plan-workloadspread.ts";
import { replicasOf, versionOfPod } from "../spread-targets.ts";
import type { ReadonlySpread, Subset, Target } from "../spread-targets.ts";
import { chooseSubset, recordDeletion } from "../subset-records.ts";

interface ChooseInput {
  workloadSpread: ReadonlySpread;
  pod: ReadonlyPod;
  operation: "Create" | "Delete" | "Eviction";
  cloneSet?: Target;
  deployment?: Target;
}

const recordsOf = (status: ReadonlySpread["status"]): unknown => status?.versionedSubsetStatuses ?? null;

export const workloadSpreadCases: Readonly<Record<string, RecordedRun>> = {
  inject: ({ workloadSpread, pod, operation }: { workloadSpread: ReadonlySpread; pod: ReadonlyPod; operation: string }) => {
    const injected = injectSubset(workloadSpread, pod, { name: workloadSpread.metadata.name, subset: operation });
    return { injected: injected !== pod, pod: injected };
  },

  chooseSubset: ({ workloadSpread, pod, operation, cloneSet, deployment }: ChooseInput) => {
    const target = cloneSet ?? deployment;
    const hasPercent = workloadSpread.spec.subsets.some(({ maxReplicas }) => typeof maxReplicas === "string");
    const replicas = hasPercent ? replicasOf(workloadSpread, target) : 0;
    const { name } = pod.metadata;
    const version = versionOfPod(pod);
    if (operation === "Create") {
      const { subset, status } = chooseSubset(workloadSpread, { name, id: name, version }, replicas, RECORDED_AT);
      const placed = subset === undefined ? pod : injectSubset(workloadSpread, pod, { name: workloadSpread.metadata.name, subset });
      return {
        error: null,
        matched: placed.metadata.annotations?.[MATCHED_ANNOTATION] ?? "",
        skipped: false,
        versionedSubsetStatuses: recordsOf(status ?? workloadSpread.status),
      };
    }
    const match = matchOf(pod);
    const status = match && isActive(pod) ? recordDeletion(workloadSpread, { name, subset: match.subset, version }, replicas, RECORDED_AT) : undefined;
    return { error: null, versionedSubsetStatuses: recordsOf(status ?? workloadSpread.status) };
  },

  matchSubset: ({ subset, node, pod, missingReplicas }: { subset: Subset; node: Node; pod: ReadonlyPod; missingReplicas: number }) => {
    const score = scoreSubset(pod, node, subset, missingReplicas);
    return { matched: score !== undefined, score: score ?? -1 };
  },

  reconcile: ({ workloadSpread, pods = [], nodes, workloadReplicas, latestVersion }: { workloadSpread: ReadonlySpread; pods?: ReadonlyPod[]; nodes: Node[]; workloadReplicas: number; latestVersion: string }) => {
    const plan = planWorkloadSpread(
      workloadSpread,
      { pods, replicas: workloadReplicas, latestVersion, node: (name) => nodes.find(({ metadata }) => metadata.name === name) },
      RECORDED_AT,
    );
    const names = (list: readonly ReadonlyPod[]): string[] => list.map(({ metadata }) => metadata.name);
    const waits = plan.waitsMs.filter((wait) => wait > 0);
    return {
      podsBySubset: Object.fromEntries([...plan.podsBySubset].map(([version, groups]) => [version, Object.fromEntries([...groups].map(([subset, list]) => [subset, names(list)]))])),
      status: plan.status,
      unschedulablePods: Object.fromEntries([...plan.unschedulable].filter(([, list]) => list.length > 0).map(([subset, list]) => [subset, names(list)])),
      changed: Object.fromEntries([...plan.patches].map(([pod, patch]) => [pod.metadata.name, changesIn(patch)])),
      requeueAfterSeconds: waits.length > 0 ? Math.min(...waits) / 1000 : 0,
    };
  },
};

function changesIn({ metadata }: { metadata?: unknown }): Record<string, string> {
  const { labels = {}, annotations = {} } = metadata as { labels?: Record<string, string>; annotations?: Record<string, string> };
  return Object.fromEntries([
    ...Object.entries(labels).map(([key, value]) => [`label ${key}`, value]),
    ...Object.entries(annotations).map(([key, value]) => [`annotation ${key}`, value]),
  ]) as Record<string, string>;
}
