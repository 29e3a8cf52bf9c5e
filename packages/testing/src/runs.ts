/**
 * How many random runs a test makes: a fixed number in `npm test`, and five times as many with
 * `FLOTILLA_RUNS=5`. A seed's first runs are the same, however many follow.
 */
const FACTOR = Number(process.env["FLOTILLA_RUNS"] ?? 1);

export function runs(usual: number): number {
  return Math.ceil(usual * FACTOR);
}

/** The seed of a test that has a fixed seed of its own, unless `FLOTILLA_SEED` sets another. */
export function seedOr(fixed: number): number {
  return Number(process.env["FLOTILLA_SEED"] ?? fixed);
}
