/** Makes one copy of a SQLite store and ends. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { StoreError } from "./errors.ts";
import { createPrivately } from "./sqlite-database.ts";

const { source, target } = workerData as { source: string; target: string };
const partial = `${target}.partial`;

if (existsSync(target)) throw new StoreError("the file exists; choose another name");
rmSync(partial, { force: true });
createPrivately(partial);
try {
  const database = new DatabaseSync(source, { readOnly: true });
  try {
    database.prepare("VACUUM INTO ?").run(partial);
  } finally {
    database.close();
  }
  // SQLite leaves it to the caller to get the copy onto the disk.
  syncToDisk(partial);
  // Unlike a rename, a link fails when the name has been taken meanwhile.
  linkSync(partial, target);
  syncToDisk(dirname(target));
} finally {
  rmSync(partial, { force: true });
}

function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
