/**
 * A note in the data directory of who runs there, so that a second start can name the first. The store has a lock of
 * its own; the note is for people, and for fleets that keep nothing on disk. One that a killed process left behind does
 * not count.
 */
import { readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { FlotillaError, isObject } from "../base/index.ts";
import { writeSecret } from "./cluster-access.ts";

export interface Running {
  pid: number;
  url: string;
}

/** A process of this machine that listens answers within milliseconds. */
const ANSWER_MS = 1_000;

const noteOf = (data: string): string => join(data, "up.json");

/** Throws when another process serves a fleet from this directory. */
export async function refuseSecondStart(data: string): Promise<void> {
  const running = await readNote(data);
  if (!running || !(await isThere(running))) return;
  throw new FlotillaError(
    "AlreadyRunning",
    `'flotilla up' runs already in ${data} (pid ${running.pid}, ${running.url}); use that one, stop it with 'kill ${running.pid}', or choose another directory with --data DIR`,
  );
}

/** Returns what takes the note away again. */
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
      `reading the data directory ${data}: this user may not read what is in it; choose another with --data DIR`,
      { cause: error },
    );
  }
  try {
    const note: unknown = JSON.parse(text);
    if (isObject(note) && typeof note["pid"] === "number" && typeof note["url"] === "string")
      return { pid: note["pid"], url: note["url"] };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // Damaged: it says nothing.
  }
  return undefined;
}

/** Its number may belong to another process by now, and its port as well, but not both. */
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
