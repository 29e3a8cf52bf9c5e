/** What a build reads, and where it puts what it makes. */
import { renameSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { stampOf } from "../packages/server/src/built-from.ts";
import type { BuiltFrom } from "../packages/server/src/built-from.ts";

export interface BuildInputs {
  /**
   * Call it before the file is read. The first stamp counts: a file that changes during the build, also between two readers of
   * it, differs from its stamp afterwards.
   */
  note(file: string): void;
  readonly builtFrom: BuiltFrom;
}

export function createBuildInputs(root: string): BuildInputs {
  const builtFrom: BuiltFrom = {};
  return {
    note(file) {
      const path = relative(root, file);
      const stamp = path in builtFrom ? undefined : stampOf(file);
      if (stamp) builtFrom[path] = stamp;
    },
    builtFrom,
  };
}

/**
 * Puts a folder in the place of another, whose content is never a mixture of both. Builds that end at the same time replace one
 * another; the last one stays.
 */
export function replaceFolder(folder: string, by: string): void {
  const old = `${by}.old`;
  for (;;) {
    rename(folder, old, "ENOENT");
    rmSync(old, { recursive: true, force: true });
    // Another build may have put its folder there meanwhile.
    if (rename(by, folder, "ENOTEMPTY", "EEXIST")) return;
  }
}

/** Returns false for the errors that are expected. */
function rename(from: string, to: string, ...expected: string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
