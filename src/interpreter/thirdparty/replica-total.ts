/** The replicas of a workload that is made of several groups of pods. */

/**
 * A binding counts replicas in whole numbers of 32 bits. A sum that does not fit is the smallest of them, which nothing
 * can be asked to run, rather than a wrapped number that looks like a reasonable one.
 */
export function replicaTotal(counts: readonly number[]): number {
  const total = Math.trunc(counts.reduce((sum, count) => sum + count, 0));
  return Math.abs(total) < 2 ** 31 ? total : -(2 ** 31);
}
