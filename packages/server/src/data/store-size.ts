/** The size of a store on disk: its file, and SQLite's files beside it. */
import { statSync } from "node:fs";

/** Read when metrics are scraped: three stat calls that the system has cached. */
export function sizeOfFiles(path: string): number {
  return [path, `${path}-wal`, `${path}-shm`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
