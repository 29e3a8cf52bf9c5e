/**
 * Rollout batches by weight, such as 1:2:7: the number of pods in the fleet that are updated after each batch. The
 * partition is derived from this number.
 */

/**
 * Every batch updates at least one more pod than the previous batch while any are left, and the last batch updates all.
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
