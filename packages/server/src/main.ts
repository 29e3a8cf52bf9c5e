/**
 * The entry point of `flotilla`. It enables Node's compile cache before loading anything else, which is why everything
 * else is loaded from here: TypeScript files then start in a fraction of the time. The cache is private: in
 * a folder that others may write to, they could inject code.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { resolveQuickly } from "./quick-resolve.ts";

/** For cleanup that is still in progress when a command has ended. */
const LAST_MS = 5_000;

enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/flotilla/compiled", import.meta.url)));
resolveQuickly();
const { guardProcess, main } = await import("./run-command.ts");
guardProcess();
process.exitCode = await main(process.argv.slice(2));
// Resources that a failed start left open must not keep the process alive.
setTimeout(() => process.exit(), LAST_MS).unref();
