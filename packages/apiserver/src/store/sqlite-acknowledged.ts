/**
 * The newest acknowledged revision, in a file beside the database. SQLite cannot notice that its log (`-wal`) was
 * removed or cut: it opens the older state that is left. This file shows that newer writes existed, and that a missing
 * or empty database is not a new one.
 *
 * It is written after each commit and not synced, because a second sync would double the time of a commit. So it may be
 * older than the database after a power failure, but never newer: whatever is written here is already on disk.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { createPrivately } from "./private-files.ts";

const acknowledgedPath = (path: string): string => `${path}.acknowledged`;

/** One block, so that a write replaces the whole contents at once. */
const LENGTH = 64;

/** The revision; 0 when the file is missing, as in a new directory, or not readable as such. */
export function readAcknowledged(path: string): number {
  const file = acknowledgedPath(path);
  if (!existsSync(file)) return 0;
  const match = /^(\d+) ([0-9a-f]+)\s*$/.exec(readFileSync(file, "latin1"));
  const revision = Number(match?.[1]);
  // The file only confirms the database. When it is damaged, it confirms nothing, and the next commit replaces it.
  return match && match[2] === sumOf(revision) ? revision : 0;
}

export interface AcknowledgedFile {
  write(revision: number): void;
  close(): void;
}

export function openAcknowledged(path: string): AcknowledgedFile {
  const file = acknowledgedPath(path);
  createPrivately(file);
  const descriptor = openSync(file, "r+");
  return {
    write(revision) {
      writeSync(descriptor, `${revision} ${sumOf(revision)}`.padEnd(LENGTH - 1) + "\n", 0, "latin1");
    },
    close() {
      try {
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

const sumOf = (revision: number): string => crc32(String(revision)).toString(16);
