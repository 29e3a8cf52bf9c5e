/** Divides the completions of a Job by the parallelism that each member got. */
import { divideByWeight, type ClusterReplicas } from "../replicas/webster.ts";

export interface JobToDivide {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly completions?: number | null };
}

/** Completions per cluster, sorted by name; undefined for a Job without completions. */
export function divideCompletions(
  job: JobToDivide,
  targets: readonly Readonly<ClusterReplicas>[],
): ClusterReplicas[] | undefined {
  const completions = job.spec?.completions;
  if (completions === undefined || completions === null) return undefined;
  const weights = targets.map(({ name, replicas }) => ({ name, weight: replicas }));
  return divideByWeight(completions, weights, { uid: job.metadata.uid });
}
