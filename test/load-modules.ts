/**
 * Loads modules as the product does: Node strips the types, its compile cache spares parsing, and our imports are resolved
 * without looking at the disk. Evaluated once per worker; `setup.ts` runs for every file.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { resolveQuickly } from "../packages/server/src/quick-resolve.ts";

enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/flotilla/compiled", import.meta.url)));
resolveQuickly();
