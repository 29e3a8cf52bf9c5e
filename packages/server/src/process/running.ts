/**
 * A note in the data directory about the running process, so that a second start can name the first. The store has its
 * own lock; the note is for users, and for ephemeral fleets. A note left behind by a killed process is ignored.
 */
import { readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { FlotillaError, isObject } from "@flotilla/base";
import type { LastStart } from "@flotilla/cli";
import { writeSecret } from "../secret-file.ts";

export interface Running {
  pid: number;
  url: string;
  command: LastStart["command"];
}

/** A listening process on this machine responds within milliseconds. */
const ANSWER_MS = 1_000;

const noteOf = (data: string): string => join(data, "up.json");

/** Throws when another process serves a fleet from this directory. */
export async function refuseSecondStart(data: string): Promise<void> {
  const running = await readNote(data);
  if (!running || !(await isThere(running))) return;
  throw new FlotillaError(
    "AlreadyRunning",
    `'flotilla ${running.command}' is already running in ${data} (pid ${running.pid}, ${running.url}); use ` +
      `that one, stop it with 'kill ${running.pid}', or choose another directory with --data DIR`,
  );
}

/** Returns a function that removes the note. */
export async function noteRunning(data: string, running: Running): Promise<() => Promise<void>> {
  await writeSecret(noteOf(data), `${JSON.stringify(running)}\n`);
  return () => rm(noteOf(data), { force: true });
}

async function readNote(data: string): Promise<Running | undefined> {
  let text: string;
  try {
    text = await readFile(noteOf(data), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new FlotillaError(
      "DataDirectory",
      `reading the data directory ${data}: permission denied; choose another with --data DIR`,
      { cause: error },
    );
  }
  try {
    const note: unknown = JSON.parse(text);
    if (isObject(note) && typeof note["pid"] === "number" && typeof note["url"] === "string")
      return {
        pid: note["pid"],
        url: note["url"],
        command: note["command"] === "apiserver" ? "apiserver" : "up",
      };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // Damaged, and therefore ignored.
  }
  return undefined;
}

/** Its pid may have been reused by another process, and its port as well, but not both. */
async function isThere({ pid, url }: Running): Promise<boolean> {
  return pid !== process.pid && isAlive(pid) && URL.canParse(url) && (await listens(new URL(url)));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function listens({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: ANSWER_MS });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once("connect", () => end(true))
      .once("timeout", () => end(false))
      .once("error", () => end(false));
  });
}
