/**
 * Makes a consistent copy of a SQLite store while it is in use. A separate thread writes it, so commits continue, and
 * it appears under its name only when it is complete and on disk.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { messageOf, moduleBeside } from "@flotilla/base";
import { StoreError } from "./errors.ts";

const FULL = /disk is full|ENOSPC/;

/** Copies the store at `source` to the new file `target`. Fails if the file exists. */
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

/** SQLite's and the system's errors about a full disk name no path and no remedy. */
export function snapshotFailure(doing: string, error: unknown): StoreError {
  return FULL.test(messageOf(error))
    ? new StoreError(`${doing}: no space left on that disk; free some space, or write it elsewhere`)
    : new StoreError(doing, { cause: error });
}
