/** How much a store takes on disk: its file, and what SQLite keeps beside it. */
import { statSync } from "node:fs";

/** Read when somebody asks for metrics: three looks at a directory that the system has at hand. */
export function sizeOfFiles(path: string): number {
  return [path, `${path}-wal`, `${path}-shm`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
