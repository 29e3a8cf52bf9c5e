/** Makes one copy of a SQLite store and exits. */
import { existsSync, linkSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { StoreError } from "./errors.ts";
import { createPrivately, syncDirectoryOf, syncFile } from "./private-files.ts";

const { source, target } = workerData as { source: string; target: string };
const partial = `${target}.partial`;

if (existsSync(target)) throw new StoreError("the file already exists; choose another name");
rmSync(partial, { force: true });
createPrivately(partial);
try {
  const database = new DatabaseSync(source, { readOnly: true });
  try {
    database.prepare("VACUUM INTO ?").run(partial);
  } finally {
    database.close();
  }
  // SQLite leaves syncing the copy to disk to the caller.
  syncFile(partial);
  // Unlike a rename, a link fails when the name has been created concurrently.
  linkSync(partial, target);
  syncDirectoryOf(target);
} finally {
  rmSync(partial, { force: true });
}
