/** The replicas of a workload that consists of several groups of pods. */

/**
 * A binding counts replicas as 32-bit integers. A sum that does not fit becomes the smallest integer, which can never
 * be scheduled, rather than a wrapped number that looks valid.
 */
export function replicaTotal(counts: readonly number[]): number {
  const total = Math.trunc(counts.reduce((sum, count) => sum + count, 0));
  return Math.abs(total) < 2 ** 31 ? total : -(2 ** 31);
}
