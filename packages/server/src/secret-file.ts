/** Files that hold secrets. */
import { chmod, rename, writeFile } from "node:fs/promises";

/** Atomic, and readable only by the user. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}
