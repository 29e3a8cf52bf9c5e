/** Files that only their owner may read: secrets are stored in them unencrypted. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates the file when it is missing. An existing file is never opened here: closing any descriptor of a file drops
 * the locks that the process holds on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  syncDirectoryOf(path);
}

/** Syncs a file's contents to disk. */
export function syncFile(path: string): void {
  syncAndClose(openSync(path, "r+"));
}

/** Syncs a file's directory entry to disk. Windows does so itself and cannot open directories. */
export function syncDirectoryOf(path: string): void {
  if (process.platform !== "win32") syncAndClose(openSync(dirname(path), "r"));
}

function syncAndClose(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
