/** Reads a file that a flag names. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, UsageError } from "@flotilla/base";

/** Throws `UsageError`. */
export async function readOption(flag: string, path: string): Promise<string> {
  try {
    return await readFile(resolve(path), "utf8");
  } catch (error) {
    throw new UsageError(`${flag}: ${path} cannot be read: ${messageOf(error)}`);
  }
}
