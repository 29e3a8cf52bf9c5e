/**
 * Property tests use the same seed in every run: a failure is caused by the change, not by chance. `npm test -- --random`
 * explores another one and prints it; `FLOTILLA_SEED=N` repeats it.
 */
import * as fc from "fast-check";
import { prepareLoading } from "./load-modules.ts";

const FIXED_SEED = 20_241_101;

fc.configureGlobal({ seed: Number(process.env["FLOTILLA_SEED"] ?? FIXED_SEED) });
prepareLoading();
