/** Makes the data directory, for its owner only, and says in plain words why it cannot be made. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FlotillaError } from "../base/index.ts";

export async function ensureDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    // Step by step and not `recursive`: below a file system that refuses new folders Node would try for ever.
    if (code === "ENOENT" && dirname(path) !== path && !(await isThere(dirname(path)))) {
      await ensureDirectory(dirname(path));
      return ensureDirectory(path);
    }
    const reason = reasons[code ?? ""];
    // Without a cause that says the same in the system's words.
    throw new FlotillaError(
      "DataDirectory",
      `making the data directory ${path}: ${reason ?? "it cannot be made there"}; choose another with --data DIR`,
      { cause: reason === undefined ? error : undefined },
    );
  }
}

const reasons: Record<string, string> = {
  EEXIST: "a file of that name is in the way",
  ENOENT: "no folder can be made there",
  ENOTDIR: "a part of the path is a file",
  EACCES: "this user may not write there",
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
