/**
 * The entry point of `flotilla`. It turns on Node's compile cache before anything else is loaded, which is why
 * everything else is loaded from here: hundreds of TypeScript files then start in a fraction of the time. The cache is
 * ours alone: in a folder that others may write to, they could put code into it.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { resolveQuickly } from "./quick-resolve.ts";
import { holdYoungGeneration } from "./young-generation.ts";

/** For what is still on its way to its end when a command has ended. */
const LAST_MS = 5_000;

enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/flotilla/compiled", import.meta.url)));
resolveQuickly();
holdYoungGeneration();
const { guardProcess, main } = await import("./run.ts");
guardProcess();
process.exitCode = await main(process.argv.slice(2));
// What a start that failed half-way left open does not keep the process alive.
setTimeout(() => process.exit(), LAST_MS).unref();
