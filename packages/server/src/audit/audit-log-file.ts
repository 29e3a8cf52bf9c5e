/** The audit log as a file of JSON lines (`--audit-log-path`), or on standard output. */
import type { AuditBackend } from "@flotilla/apiserver";
import { messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { openLogFile } from "../process/log-file.ts";
import type { LostEvents } from "./lost-events.ts";

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Kubernetes' default. */
const DEFAULT_SIZE_MIB = 100;
/** What a backend buffers. About 50,000 events of the level Metadata: seconds of a disk that hangs. */
export const MAX_PENDING_CHARACTERS = 64 * MIB;

export interface AuditLogFileOptions {
  /** `-` is standard output. */
  path: string;
  maxSizeMib?: number | undefined;
  /** 0 keeps all, up to 1,000. */
  maxBackups?: number | undefined;
  /** 0 keeps them whatever their age. */
  maxAgeDays?: number | undefined;
}

const MOST_BACKUPS = 1000;

export function createAuditLogFile(
  { path, maxSizeMib = 0, maxBackups = 0, maxAgeDays = 0 }: AuditLogFileOptions,
  { lost, clock }: { lost: LostEvents; clock: Clock },
  output: { readonly writableLength: number; write(text: string): unknown } = process.stdout,
): AuditBackend {
  if (path === "-")
    return {
      name: "log",
      write({ text }) {
        if (output.writableLength + text.length > MAX_PENDING_CHARACTERS)
          lost.add(1, "the reader of standard output is too slow");
        else output.write(`${text}\n`);
      },
      close: async () => lost.close(),
    };
  let reason = "the disk is too slow";
  const file = openLogFile({
    path,
    maxBytes: (maxSizeMib || DEFAULT_SIZE_MIB) * MIB,
    kept: maxBackups || MOST_BACKUPS,
    maxAge: maxAgeDays === 0 ? undefined : { ms: maxAgeDays * DAY_MS, clock },
    maxPendingCharacters: MAX_PENDING_CHARACTERS,
    onProblem: (error) => (reason = messageOf(error)),
    onLost: (lines) => lost.add(lines, reason),
  });
  return {
    name: "log",
    write: ({ text }) => file.write(`${text}\n`),
    async close() {
      await file.close();
      lost.close();
    },
  };
}
