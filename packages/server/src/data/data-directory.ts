/** Creates the data directory, accessible only by its owner, and explains why it cannot be created. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FlotillaError } from "@flotilla/base";

/** The store, in the data directory. */
export const STORE = "flotilla.db";

export async function ensureDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    // Not `recursive`: on a file system that rejects new folders, Node would retry forever.
    if (code === "ENOENT" && dirname(path) !== path && !(await isThere(dirname(path)))) {
      await ensureDirectory(dirname(path));
      return ensureDirectory(path);
    }
    const reason = reasons[code ?? ""];
    // Without the cause, which repeats it as a system error.
    throw new FlotillaError(
      "DataDirectory",
      `creating the data directory ${path}: ${reason ?? "it cannot be created there"}; choose another with --data DIR`,
      { cause: reason === undefined ? error : undefined },
    );
  }
}

const reasons: Record<string, string> = {
  EEXIST: "a file of that name exists",
  ENOENT: "no folder can be created there",
  ENOTDIR: "a part of the path is a file",
  EACCES: "permission denied",
  EROFS: "the file system is read-only",
};

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
