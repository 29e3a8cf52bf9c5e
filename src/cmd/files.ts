/** What commands read and write for people: files, and standard input. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { FlotillaError } from "../base/index.ts";

export async function readTextFile(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new FlotillaError("File", `reading ${path}`, { cause });
  });
}

/** Whole or not at all, and for nobody else to read. */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const { writeSecret } = await import("./cluster-access.ts");
  return writeSecret(path, content).catch((cause: unknown) => {
    throw new FlotillaError("File", `writing ${path}`, { cause });
  });
}

/** To its end, or until Ctrl-C: somebody may have forgotten that a command waits for them. */
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
