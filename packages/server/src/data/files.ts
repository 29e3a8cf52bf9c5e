/** Reads and writes files and standard input for commands. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { FlotillaError } from "@flotilla/base";

export async function readTextFile(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new FlotillaError("File", `reading ${path}`, { cause });
  });
}

/** Undefined if there is no such file, or it cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return undefined;
    throw error;
  }
}

/** Atomic, and readable only by the user. */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const { writeSecret } = await import("../secret-file.ts");
  return writeSecret(path, content).catch((cause: unknown) => {
    throw new FlotillaError("File", `writing ${path}`, { cause });
  });
}

/** To its end, or until Ctrl-C: the user may not know that the command waits for input. */
export async function readInput(stream: Readable, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const stop = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await text(stream);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
