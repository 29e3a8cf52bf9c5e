/** Parses the command line, runs the command, and sets the exit code. */
import { dirname } from "node:path";
import { didYouMean, FlotillaError, systemClock, UsageError } from "@flotilla/base";
import {
  asCalled,
  asksForJson,
  commands,
  createOutput,
  defaultDataDirectory,
  lastStartPath,
  parseCommandLine,
  parseLastStart,
  PROGRAM,
  renderHelp,
  renderOverview,
  commandHint,
} from "@flotilla/cli";
import type { Command, CommandContext, FleetStarter, LastStart, Parsed } from "@flotilla/cli";
import { createProgress } from "./process/progress.ts";
import type { Progress } from "./process/progress.ts";
import { helpWidth, paintFor, widthOf } from "./process/screen.ts";
import { createTerminal } from "./process/terminal.ts";
import { holdYoungGeneration } from "./process/young-generation.ts";

const OK = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
/** The exit codes of shells for a program that a signal ended. */
const STOPPED = { SIGINT: 130, SIGTERM: 143 } as const;

/** The program name: `bin/flotilla` sets the variable when it runs as a kubectl plugin. */
const program = process.env["FLOTILLA_CALLED_AS"] === `kubectl ${PROGRAM}` ? `kubectl ${PROGRAM}` : PROGRAM;
const environment: Readonly<Record<string, string | undefined>> = process.env;

/** Called once per process, before anything runs. */
export function guardProcess(): void {
  // The reader of our output may close it (`flotilla status | head`); the running command decides what that means.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") return;
      process.stderr.write(
        `flotilla: writing the output: ${error.code === "ENOSPC" ? "the disk is full; free some space, or write elsewhere" : error.message}\n`,
      );
      process.exit(FAILED);
    });
  }
  // An unhandled rejection is a bug; continuing would hide it.
  const die = (error: unknown): void => {
    process.stderr.write(
      `flotilla: unhandled error: ${environment["FLOTILLA_DEBUG"] && error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(FAILED);
  };
  process.once("unhandledRejection", die);
  process.once("uncaughtException", die);
}

export async function main([name, ...rest]: string[]): Promise<number> {
  // During completion an error message would only garble the line.
  if (name === "__complete") return (await import("./complete.ts")).complete(rest);
  const session: Session = { kubeconfigs: [] };
  try {
    if (name === undefined || (name === "help" && rest[0] === undefined) || name === "--help" || name === "-h") {
      process.stdout.write(`${renderOverview(commands, helpPage(rest.includes("--no-color")))}\n`);
      return name === undefined ? WRONG_USAGE : OK;
    }
    if (name === "--version") return await main(["version", ...rest]);
    if (name.startsWith("-"))
      throw new UsageError(
        `flags follow a command, for example 'flotilla status --data ./fleet'; run 'flotilla help' to list the commands`,
      );
    const wanted = name === "help" ? (rest[0] ?? "") : name;
    const entry = commands.find((command) => command.name === wanted);
    if (!entry)
      throw new UsageError(
        `unknown command '${wanted}'` +
          `${commandHint(wanted) || didYouMean(wanted, [...commands.map((command) => command.name), "help"])}; ` +
          "run 'flotilla help' to list the commands",
      );
    session.command = await entry.load();
    return await run(session.command, name === "help" ? ["--help", ...rest.slice(1)] : rest, session);
  } catch (error) {
    return await fail(error, name, rest, session);
  }
}

/** State collected while a command runs, for its exit. */
interface Session {
  command?: Command;
  /** Kubeconfigs that it opened. */
  kubeconfigs: string[];
  /** Why it was stopped early. */
  stop?: keyof typeof STOPPED | "output closed";
}

async function run(command: Command, argv: string[], session: Session): Promise<number> {
  const parsed = parseCommandLine(command, argv);
  if (parsed.help) {
    process.stdout.write(`${renderHelp(command, helpPage(argv.includes("--no-color")))}\n`);
    return OK;
  }
  const stopping = new AbortController();
  const stopFor = (reason: NonNullable<Session["stop"]>) => () => {
    session.stop ??= reason;
    stopping.abort(new FlotillaError("Stopped", reason === "SIGINT" ? "interrupted by Ctrl-C" : "stopped by a signal"));
  };
  const [interrupt, terminate, leave] = [stopFor("SIGINT"), stopFor("SIGTERM"), stopFor("output closed")];
  // Once: a second signal exits without cleanup.
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", terminate);
  if (command.serves) holdYoungGeneration();
  else process.stdout.once("error", leave);
  const progress = createProgress(process.stderr, systemClock, parsed.format !== "table");
  try {
    return (await command.run(contextOf(parsed, session, progress, stopping.signal))) ?? OK;
  } finally {
    progress.show("");
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", terminate);
    process.stdout.off("error", leave);
  }
}

function contextOf(
  { args, flags, format }: Parsed,
  session: Session,
  progress: Progress,
  signal: AbortSignal,
): CommandContext<Record<string, never>> {
  const trace = (line: string): void => progress.aside(() => process.stderr.write(`${line}\n`));
  return {
    args,
    flags: flags as never,
    output: createOutput({
      format,
      width: widthOf(process.stdout),
      paint: paintFor(process.stdout, environment, { noColor: flags["no-color"] === true }),
      called: (text) => asCalled(text, program),
      write: (text) => progress.aside(() => process.stdout.write(text)),
      warn: (text) => progress.aside(() => process.stderr.write(text)),
      showProgress: progress.show,
    }),
    signal,
    clock: systemClock,
    startFleet,
    roles: {
      apiServer: async (...start) => (await import("./api-server-process.ts")).startApiServer(...start),
      webhooks: async (...start) => (await import("./webhooks-process.ts")).startWebhooks(...start),
      controllers: async (...start) => (await import("./controllers-process.ts")).startControllers(...start),
    },
    async startConsole(access, port) {
      session.kubeconfigs.push(...access.kubeconfigs);
      const [{ startConsole }, { createStderrLog }] = await Promise.all([
        import("./console/start-console.ts"),
        import("./process/stderr-log.ts"),
      ]);
      return startConsole({ access, port, log: createStderrLog("warn") });
    },
    openBrowser: async (address) => (await import("./process/open-browser.ts")).openBrowser(address),
    async connect(access) {
      session.kubeconfigs.push(...access.kubeconfigs);
      // Shown until the command sets its own progress, or prints its result.
      progress.show("contacting the hub");
      return (await import("./connect.ts")).connect(access, trace);
    },
    async connectCluster(access, name) {
      session.kubeconfigs.push(...access.kubeconfigs);
      return (await import("./connect.ts")).connectCluster(access, name, trace);
    },
    openOfflineHub: async () => (await import("./data/offline-hub.ts")).openOfflineHub(),
    snapshots: {
      save: async (place, file) => (await import("./data/snapshots.ts")).snapshots.save(place, file),
      restore: async (place, file) => (await import("./data/snapshots.ts")).snapshots.restore(place, file),
    },
    keys: {
      show: async (folder) => (await import("./keys/key-files.ts")).keyFiles.show(folder),
      create: async (folder) => (await import("./keys/key-files.ts")).keyFiles.create(folder),
      kubeconfig: async (...given) => (await import("./keys/key-files.ts")).keyFiles.kubeconfig(...given),
      rotate: async (...step) => (await import("./keys/key-files.ts")).keyFiles.rotate(...step),
    },
    standbys: {
      read: async (data) => (await import("./standby/standby-files.ts")).readStandbyState(data),
      request: async (...request) => (await import("./standby/standby-files.ts")).writePromotionRequest(...request),
    },
    stores: {
      check: async (...checked) => (await import("./data/stores.ts")).stores.check(...checked),
      repair: async (...repaired) => (await import("./data/stores.ts")).stores.repair(...repaired),
    },
    agents: {
      run: async (...agent) => (await import("./agent/agent.ts")).startAgent(...agent),
      register: async (...registration) => (await import("./agent/register.ts")).register(...registration),
    },
    readFile: async (path) => (await import("./data/files.ts")).readTextFile(path),
    writeFile: async (path, text) => (await import("./data/files.ts")).writeSecretFile(path, text),
    environment,
    readInput: async () => (await import("./data/files.ts")).readInput(process.stdin, signal),
    terminal: createTerminal({
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      interrupt: () => void process.kill(process.pid, "SIGINT"),
      environment,
    }),
  };
}

/** Prints one line on standard error and returns the exit code. With `-o json` the error is an object, for programs. */
async function fail(
  error: unknown,
  name: string | undefined,
  argv: readonly string[],
  { command, kubeconfigs, stop }: Session,
): Promise<number> {
  if (stop === "output closed") return OK;
  const { describeFailure } = await import("./process/failure.ts");
  const failure = describeFailure(error, {
    kubeconfigs,
    defaultData: defaultDataDirectory(environment),
    lastStart: await lastStartOf(kubeconfigs[0]),
    failureCode: command?.failureCode,
  });
  const exitCode = stop && failure.code === "Stopped" ? STOPPED[stop] : failure.exitCode;
  const message = asCalled(failure.message, program);
  const { red } = paintFor(process.stderr, environment, { noColor: argv.includes("--no-color") });
  process.stderr.write(
    asksForJson(argv)
      ? `${JSON.stringify({ error: { code: failure.code, message, exitCode } })}\n`
      : `${red(`${program}${name ? ` ${name}` : ""}:`)} ${message}\n`,
  );
  if (environment["FLOTILLA_DEBUG"] || /--log-level[ =]debug/.test(argv.join(" ")))
    process.stderr.write(`${(await import("node:util")).inspect(error)}\n`);
  return exitCode;
}

/** A kubeconfig outside a data directory has no such record beside it. */
async function lastStartOf(kubeconfig: string | undefined): Promise<LastStart | undefined> {
  if (kubeconfig === undefined) return undefined;
  const { readIfThere } = await import("./data/files.ts");
  const text = await readIfThere(lastStartPath(dirname(kubeconfig)));
  return text === undefined ? undefined : parseLastStart(text);
}

function helpPage(noColor: boolean): Parameters<typeof renderOverview>[1] {
  return { program, width: helpWidth(process.stdout), paint: paintFor(process.stdout, environment, { noColor }) };
}

/** Loaded only by commands that start a fleet. */
async function startFleet(...args: Parameters<FleetStarter>): ReturnType<FleetStarter> {
  const { startFleet: start } = await import("./start-fleet.ts");
  return start(...args);
}
