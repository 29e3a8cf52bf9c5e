/**
 * A consistent copy of a SQLite store while it is in use. It is made in a thread of its own, so commits go on
 * meanwhile, and appears under its name only when it is complete and on disk.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { messageOf, moduleBeside } from "../base/index.ts";
import { StoreError } from "./errors.ts";

const FULL = /disk is full|ENOSPC/;

/** Copies the store at `source` to the new file `target`. Refuses to replace a file. */
export async function writeSnapshot(source: string, target: string): Promise<void> {
  const worker = new Worker(moduleBeside(import.meta.url, "./sqlite-snapshot-worker"), {
    workerData: { source, target },
  });
  try {
    await once(worker, "exit");
  } catch (error) {
    throw snapshotFailure(`writing a snapshot of ${source} to ${target}`, error);
  }
}

/** What SQLite and the system say of a full disk names no place and nothing to do. */
export function snapshotFailure(doing: string, error: unknown): StoreError {
  return FULL.test(messageOf(error))
    ? new StoreError(`${doing}: there is no room on that disk; free some, or write it elsewhere`)
    : new StoreError(doing, { cause: error });
}
