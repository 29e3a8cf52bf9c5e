/** The rollout state of a cluster for a replica set's template, read from the conditions of its work. */
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { ClusterRollout, RolloutState } from "../rollout/index.ts";

type Work = DeepReadonly<ManifestWork>;
type Condition = NonNullable<Work["status"]>["conditions"] extends readonly (infer C)[] | undefined ? C : never;

/**
 * The `Progressing` condition decides; Flotilla's agents set it for workloads they understand, and every agent sets it
 * for users' rules. A work without it has succeeded when its objects are available: waiting for a condition that is
 * never set would stop the rollout forever.
 *
 * A work that its member rejects is progressing until the rollout's deadline. In OCM it never starts, and blocks the
 * others without having failed.
 */
export function rolloutOf(work: Work): ClusterRollout {
  const { conditions = [] } = work.status ?? {};
  const current = (type: string): Condition | undefined => {
    const condition = findCondition(conditions, type);
    return condition?.observedGeneration === work.metadata.generation ? condition : undefined;
  };
  const isStale = (type: string): boolean => findCondition(conditions, type) !== undefined && !current(type);
  const state = (
    name: RolloutState,
    { lastTransitionTime }: { readonly lastTransitionTime?: string | undefined } = {},
  ): ClusterRollout => ({
    cluster: work.metadata.namespace ?? "",
    state: name,
    sinceMs: lastTransitionTime !== undefined ? Date.parse(lastTransitionTime) : undefined,
  });

  const [applied, progressing, degraded] = [current("Applied"), current("Progressing"), current("Degraded")];
  if (applied?.status === "False") return state("Progressing", lastRefusal(work) ?? applied);
  if (applied?.status !== "True" || isStale("Progressing") || isStale("Degraded")) return state("ToApply");
  if (!progressing && asksForProgress(work)) return state("ToApply");
  if (!progressing) {
    const available = current("Available");
    return available?.status === "True" ? state("Succeeded", available) : state("Progressing", available ?? applied);
  }
  if (progressing.status === "False") return state("Succeeded", progressing);
  return progressing.status === "True" && degraded?.status === "True"
    ? state("Failed", degraded)
    : state("Progressing", progressing);
}

const asksForProgress = ({ spec }: Work): boolean =>
  (spec.manifestConfigs ?? []).some(({ conditionRules }) =>
    conditionRules?.some(({ condition }) => condition === "Progressing"),
  );

/** Since when this generation is rejected: the work's own condition keeps the time of the very first rejection. */
function lastRefusal({ metadata, status }: Work): Condition | undefined {
  const refused = (status?.resourceStatus?.manifests ?? [])
    .flatMap(({ conditions }) => findCondition(conditions, "Applied") ?? [])
    .filter((condition) => condition.status === "False" && condition.observedGeneration === metadata.generation);
  return refused.toSorted((a, b) => Date.parse(b.lastTransitionTime) - Date.parse(a.lastTransitionTime))[0];
}
