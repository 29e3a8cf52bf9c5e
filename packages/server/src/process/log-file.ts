/**
 * Writes the log of a process to a file: JSON lines, appended in the background. A full file becomes `.1`, and the one
 * before `.2`, so that the log of a long-running hub is bounded. If the disk rejects writes, lines are lost, which is
 * reported once; the process continues.
 */
import { appendFile, rename, rm, stat } from "node:fs/promises";
import type { Clock } from "@flotilla/base";

export interface LogFile {
  write(line: string): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

export interface LogFileOptions {
  path: string;
  /** The size limit of one file. */
  maxBytes?: number;
  /** The number of rotated files to keep. */
  kept?: number;
  /** Rotated files that were last written before this long ago are deleted; unset keeps them. */
  maxAge?: { readonly ms: number; readonly clock: Clock } | undefined;
  /** If the disk is this far behind, lines are dropped to bound memory. */
  maxPendingCharacters?: number;
  /** Called when lines start to be lost. */
  onProblem(error: unknown): void;
  /** Called with the number of lines that were lost. */
  onLost?(lines: number): void;
}

/** About fifty thousand lines each: days of a busy fleet. */
const MAX_BYTES = 8 * 1024 * 1024;
const KEPT = 2;
const MAX_PENDING_CHARACTERS = 4 * 1024 * 1024;
/** Each write opens the file, because it may have been moved. Lines of a busy process wait this long for others. */
const BATCH_MS = 50;

export function openLogFile(options: LogFileOptions): LogFile {
  const {
    path,
    maxBytes = MAX_BYTES,
    kept = KEPT,
    maxAge,
    maxPendingCharacters = MAX_PENDING_CHARACTERS,
    onProblem,
    onLost,
  } = options;
  let pending: string[] = [];
  let pendingCharacters = 0;
  let writing: Promise<void> | undefined;
  /** Size of the file; undefined before it is first read. */
  let size: number | undefined;
  let isFailing = false;
  let isClosing = false;
  let endPause: (() => void) | undefined;

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => endPause?.(), BATCH_MS);
      endPause = () => {
        clearTimeout(timer);
        endPause = undefined;
        resolve();
      };
    });

  async function append(text: string): Promise<void> {
    const bytes = Buffer.byteLength(text);
    size ??= await sizeOf(path);
    if (size > 0 && size + bytes > maxBytes) {
      for (let number = kept; number > 0; number--) await renameIfThere(nameOf(number - 1), nameOf(number));
      if (kept === 0) await rm(path, { force: true });
      if (maxAge) await removeOld(maxAge.clock.now() - maxAge.ms);
      size = 0;
    }
    await appendFile(path, text, { mode: 0o600 });
    size += bytes;
  }
  const nameOf = (number: number): string => (number === 0 ? path : `${path}.${number}`);

  /** The older files are the higher numbers. */
  async function removeOld(beforeMs: number): Promise<void> {
    for (let number = kept; number > 0; number--) {
      const modifiedMs = await modifiedAt(nameOf(number));
      if (modifiedMs !== undefined && modifiedMs < beforeMs) await rm(nameOf(number), { force: true });
    }
  }

  async function writeAll(): Promise<void> {
    while (pending.length > 0) {
      const lines = pending.length;
      const text = pending.join("");
      pending = [];
      pendingCharacters = 0;
      try {
        await append(text);
        isFailing = false;
      } catch (error) {
        size = undefined;
        if (!isFailing) onProblem(error);
        isFailing = true;
        onLost?.(lines);
      }
      if (!isClosing) await pause();
    }
    writing = undefined;
  }

  return {
    write(line) {
      if (pendingCharacters + line.length > maxPendingCharacters) {
        onLost?.(1);
        return;
      }
      pending.push(line);
      pendingCharacters += line.length;
      if (pendingCharacters > maxPendingCharacters / 2) endPause?.();
      // Deferred, so that lines logged together are written together.
      writing ??= Promise.resolve().then(writeAll);
    },
    async close() {
      isClosing = true;
      endPause?.();
      await writing;
      isClosing = false;
    },
  };
}

async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
