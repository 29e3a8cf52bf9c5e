/**
 * Loads modules as the product does: Node strips the types, its compile cache spares parsing, and our imports are resolved
 * without looking at the disk.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { resolveQuickly } from "../packages/server/src/quick-resolve.ts";

let isPrepared = false;

/** Once per worker: the set-up runs for every file. */
export function prepareLoading(): void {
  if (isPrepared) return;
  isPrepared = true;
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/flotilla/compiled", import.meta.url)));
  resolveQuickly();
}
