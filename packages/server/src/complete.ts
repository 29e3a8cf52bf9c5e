/** `flotilla __complete WORDS…`, which the scripts of `flotilla completion` and kubectl run during completion. */
import { inspect } from "node:util";
import { messageOf, systemClock } from "@flotilla/base";
import { commands, completeLine } from "@flotilla/cli";
import type { CommandContext } from "@flotilla/cli";
import { readTextFile } from "./data/files.ts";

export async function complete(words: readonly string[]): Promise<never> {
  const complain = (error: unknown): void => {
    if (process.env["FLOTILLA_DEBUG"])
      process.stderr.write(`flotilla __complete: ${error instanceof Error ? inspect(error) : messageOf(error)}\n`);
  };
  // Most words are completed without a hub, and the client takes longer to load than everything else.
  const connect: CommandContext<never>["connect"] = async (access) =>
    (await import("./connect.ts")).connect(access, () => {});
  const reach = {
    environment: process.env,
    connect,
    readFile: readTextFile,
    clock: systemClock,
    signal: new AbortController().signal,
    complain,
  };
  const answer = await completeLine(commands, words, reach).catch((error: unknown) => {
    complain(error);
    return "";
  });
  await new Promise((resolve) => process.stdout.write(answer, resolve));
  // The shell waits for our exit, and an abandoned connection attempt may take seconds.
  process.exit(0);
}
