/**
 * Property tests use the same seed in every run: a failure is caused by the change, not by chance. `FLOTILLA_SEED=random`
 * (`npm run test:random`) explores another one and prints it; `FLOTILLA_SEED=N` repeats it.
 */
import * as fc from "fast-check";
import { prepareLoading } from "./load-modules.ts";

const FIXED_SEED = 20_241_101;
const wanted = process.env["FLOTILLA_SEED"];
const seed = wanted === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(wanted ?? FIXED_SEED);
if (wanted !== undefined) process.stdout.write(`property tests use FLOTILLA_SEED=${seed}\n`);

fc.configureGlobal({ seed });
prepareLoading();
