/**
 * Batches of a rollout by weight, such as 1:2:7: how many pods of the fleet are updated after each of them, which is
 * what a partition is set by.
 */

/**
 * Every batch updates at least one pod more than the one before it while there are any left, and the last updates all.
 */
export function batchTargets(weights: readonly number[], replicas: number): number[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let done = 0;
  let target = 0;
  return weights.map((weight, index) => {
    done += weight;
    const share = index === weights.length - 1 ? replicas : Math.ceil((replicas * done) / whole);
    target = Math.min(replicas, Math.max(share, target + 1));
    return target;
  });
}
