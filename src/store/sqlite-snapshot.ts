/**
 * A consistent copy of a SQLite store while it is in use. It is made in a thread of its own, so commits go on meanwhile, and
 * appears under its name only when it is complete and on disk.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { messageOf, moduleBeside } from "../base/index.ts";
import { StoreError } from "./errors.ts";

/** Copies the store at `source` to the new file `target`. Refuses to replace a file. */
export async function writeSnapshot(source: string, target: string): Promise<void> {
  const worker = new Worker(moduleBeside(import.meta.url, "./sqlite-snapshot-worker"), { workerData: { source, target } });
  try {
    await once(worker, "exit");
  } catch (error) {
    throw new StoreError(`writing a snapshot of ${source} to ${target}: ${messageOf(error)}`, { cause: error });
  }
}
