/** Divides the completions of a Job by the parallelism that each member got. */
import { divideByWeight, type ClusterReplicas } from "../replicas/webster.ts";

export interface JobToDivide {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly completions?: number | null };
}

/**
 * Completions per cluster, sorted by name; undefined for a Job without completions. `tieBreaker` defaults to the Job's uid,
 * as in Karmada.
 */
export function divideCompletions(
  job: JobToDivide,
  targets: readonly Readonly<ClusterReplicas>[],
  tieBreaker: string | undefined = job.metadata.uid,
): ClusterReplicas[] | undefined {
  const completions = job.spec?.completions;
  if (completions === undefined || completions === null) return undefined;
  const weights = targets.map(({ name, replicas }) => ({ name, weight: replicas }));
  return divideByWeight(completions, weights, { uid: tieBreaker });
}
