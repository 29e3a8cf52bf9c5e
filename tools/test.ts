/**
 * `npm test [-- --random] [-- ARGUMENTS OF VITEST]`: runs the suites. `--random` gives the property tests another seed than
 * the fixed one and prints it; `FLOTILLA_SEED=N npm test` repeats it.
 */
const RANDOM = "--random";
const SEEDS = 2 ** 31;

const args = process.argv.slice(2);
if (args.includes(RANDOM)) {
  const seed = String(Math.floor(Math.random() * SEEDS));
  process.env["FLOTILLA_SEED"] = seed;
  process.stdout.write(`property tests use FLOTILLA_SEED=${seed}\n`);
}
process.argv = [...process.argv.slice(0, 2), "run", ...args.filter((argument) => argument !== RANDOM)];
await import(new URL("../node_modules/vitest/vitest.mjs", import.meta.url).href);
