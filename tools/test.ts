/**
 * `npm test [-- --random] [-- ARGUMENTS OF VITEST]`: runs the suites. `--random` gives the property tests another seed than
 * the fixed one, three times as many runs, and prints the seed; `FLOTILLA_SEED=N FLOTILLA_RUNS=3 npm test` repeats it.
 */
const RANDOM = "--random";
const SEEDS = 2 ** 31;
/** So many times the usual number of runs. */
const RUNS = "3";

const args = process.argv.slice(2);
if (args.includes(RANDOM)) {
  const seed = String(Math.floor(Math.random() * SEEDS));
  process.env["FLOTILLA_SEED"] = seed;
  process.env["FLOTILLA_RUNS"] ??= RUNS;
  process.stdout.write(`property tests use FLOTILLA_SEED=${seed} FLOTILLA_RUNS=${process.env["FLOTILLA_RUNS"]}\n`);
}
process.argv = [...process.argv.slice(0, 2), "run", ...args.filter((argument) => argument !== RANDOM)];
await import(new URL("../node_modules/vitest/vitest.mjs", import.meta.url).href);
