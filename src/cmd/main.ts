/**
 * The entry point of `flotilla`. It turns on Node's compile cache before anything else is loaded, which is why everything
 * else is loaded from here: hundreds of TypeScript files then start in a fraction of the time.
 */
import { enableCompileCache } from "node:module";
import { holdYoungGeneration } from "./young-generation.ts";

enableCompileCache();
holdYoungGeneration();
const { guardProcess, main } = await import("./run.ts");
guardProcess();
process.exitCode = await main(process.argv.slice(2));
