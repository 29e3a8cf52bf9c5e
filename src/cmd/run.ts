/** Reads the command line, runs the command, turns its end into an exit code. */
import { FlotillaError, messageOf, systemClock, UsageError } from "../base/index.ts";
import { commands, createOutput, parseCommandLine, renderHelp, renderOverview } from "../cli/index.ts";
import type { Command, FleetStarter } from "../cli/index.ts";
import { createProgress } from "./progress.ts";

const OK = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Once per process, before anything runs. */
export function guardProcess(): void {
  // Whoever read our output may leave (`flotilla status | head`); what runs goes on without being heard.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  // A failure that nobody awaits is a bug; going on with half of a program would hide it.
  process.once("unhandledRejection", (error) => {
    process.stderr.write(`flotilla: a failure that nobody handled: ${messageOf(error)}\n`);
    process.exit(FAILED);
  });
}

export async function main([name, ...rest]: string[]): Promise<number> {
  let command: Command | undefined;
  try {
    if (name === "help" && rest[0] !== undefined) return await main([rest[0], "--help"]);
    if (name === undefined || name === "help" || name === "--help" || name === "-h") {
      process.stdout.write(`${renderOverview(commands)}\n`);
      return name === undefined ? WRONG_USAGE : OK;
    }
    if (name === "--version") return await main(["version", ...rest]);
    const entry = commands.find((command) => command.name === name);
    if (!entry) throw new UsageError(`there is no command '${name}'; 'flotilla help' lists them`);
    command = await entry.load();
    return await run(command, rest);
  } catch (error) {
    process.stderr.write(`flotilla${name ? ` ${name}` : ""}: ${messageOf(error)}\n`);
    if (!(error instanceof FlotillaError) && process.env["FLOTILLA_DEBUG"] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return error instanceof UsageError ? WRONG_USAGE : (command?.failureCode ?? FAILED);
  }
}

async function run(command: Command, argv: string[]): Promise<number> {
  const { args, flags, format, help } = parseCommandLine(command, argv);
  if (help) {
    process.stdout.write(`${renderHelp(command)}\n`);
    return OK;
  }
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new FlotillaError("Stopped", "stopped by a signal"));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  const progress = createProgress(process.stderr, systemClock);
  try {
    const code = await command.run({
      args,
      flags: flags as never,
      output: createOutput({ format, write: (text) => void process.stdout.write(text), warn: (text) => void process.stderr.write(text), showProgress: progress.show }),
      signal: stopping.signal,
      clock: systemClock,
      startFleet,
      connect: async (kubeconfig) => (await import("./connect.ts")).connect(kubeconfig),
      connectCluster: async (...which) => (await import("./connect.ts")).connectCluster(...which),
      snapshots: {
        save: async (data, file) => (await import("./snapshots.ts")).snapshots.save(data, file),
        restore: async (data, file) => (await import("./snapshots.ts")).snapshots.restore(data, file),
      },
      agents: {
        run: async (...agent) => (await import("./agent.ts")).startAgent(...agent),
        register: async (...registration) => (await import("./register.ts")).register(...registration),
      },
      readFile: async (path) => (await import("node:fs/promises")).readFile(path, "utf8"),
      writeFile: async (path, text) => (await import("./cluster-access.ts")).writeSecret(path, text),
      environment: process.env,
      readInput: async () => (await import("node:stream/consumers")).text(process.stdin),
    });
    return code ?? OK;
  } finally {
    progress.show("");
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}

/** Loaded only by the commands that start a fleet. */
async function startFleet(...args: Parameters<FleetStarter>): ReturnType<FleetStarter> {
  const { startFleet: start } = await import("./fleet.ts");
  return start(...args);
}
