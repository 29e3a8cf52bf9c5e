/** Starts stock programs beside Flotilla, each with its log in a folder, and ends them. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";

export type Kubectl = (args: string[], input?: string) => string;

export interface StockRun {
  /** The folder with the programs. */
  bin: string;
  /** The folder of this run. */
  folder: string;
  /** The first of twenty ports. */
  base: number;
  start(program: string, flags: readonly string[], name?: string, env?: Record<string, string>): void;
  command(program: string, args: readonly string[]): string;
  kubectl(kubeconfig: string): Kubectl;
  /** Runs kubectl, which must fail; returns the last line of its error. */
  fails(kubectl: Kubectl, args: string[], input?: string): string;
  /** Creates an empty logical cluster through the hub's API; returns the path of its kubeconfig. */
  makeCluster(hub: string, name: string): string;
  until(what: string, seconds: number, isSo: () => boolean): Promise<void>;
  /** Prints what was reached, with the time since the start. */
  mark(what: string): void;
  print(text: string): void;
  onStop(stop: () => Promise<void>): void;
}

const PROGRAM_EXIT_MS = 10_000;

/** Parses the flags, runs `main`, ends all programs, and returns the exit code. */
export async function usageOf(
  tool: string,
  args: string[],
  programs: readonly string[],
  main: (run: StockRun, count: number) => Promise<void>,
): Promise<number> {
  const usage = `Usage: bin/node24 tools/conformance/${tool}.ts [--count N] [--port N]

  --count N  how many objects are created (default 100)
  --port N   the first of twenty free ports (default 23100)

${programs.join(", ")} are taken from $REAL_BIN (default ~/.cache/flotilla/real).
`;
  let count: number;
  let base: number;
  try {
    const { values } = parseArgs({
      args,
      options: { count: { type: "string", default: "100" }, port: { type: "string", default: "23100" } },
    });
    count = Number(values.count);
    base = Number(values.port);
    if (!(count > 0) || !(base > 0)) throw new TypeError("--count and --port must be numbers above 0");
  } catch (error) {
    process.stderr.write(`${tool}: ${messageOf(error)}\n\n${usage}`);
    return 2;
  }
  const bin = process.env["REAL_BIN"] ?? join(homedir(), ".cache/flotilla/real");
  const absent = programs.map((name) => join(bin, name)).find((file) => !existsSync(file));
  if (absent !== undefined) {
    process.stderr.write(`${tool}: ${absent} does not exist; set REAL_BIN\n`);
    return 2;
  }
  const { run, stop } = createStockRun(bin, mkdtempSync(join(tmpdir(), `flotilla-${tool}-`)), base);
  run.print(`logs in ${run.folder}`);
  try {
    await main(run, count);
    return 0;
  } catch (error) {
    process.stderr.write(`${tool}: ${messageOf(error)}\n`);
    return 1;
  } finally {
    await stop();
  }
}

function createStockRun(bin: string, folder: string, base: number): { run: StockRun; stop(): Promise<void> } {
  const started = performance.now();
  const running = new Map<string, ChildProcess>();
  const stops: (() => Promise<void>)[] = [];
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  const kubectl =
    (kubeconfig: string): Kubectl =>
    (args, input = "") =>
      execFileSync(join(bin, "kubectl"), ["--kubeconfig", kubeconfig, ...args], {
        input,
        encoding: "utf8",
        stdio: ["pipe", "pipe", "pipe"],
        maxBuffer: 256 * 1024 * 1024,
      });
  const run: StockRun = {
    bin,
    folder,
    base,
    start(program, flags, name = program, env = {}) {
      const output = openSync(join(folder, `${name}.log`), "w");
      running.set(
        name,
        spawn(join(bin, program), flags, { stdio: ["ignore", output, output], env: { ...process.env, ...env } }),
      );
    },
    command: (program, args) =>
      execFileSync(join(bin, program), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    kubectl,
    fails(call, args, input) {
      try {
        call(args, input);
      } catch (error) {
        return messageOf(error).trim().split("\n").at(-1) ?? "";
      }
      throw new Error(`kubectl ${args.join(" ")} did not fail`);
    },
    makeCluster(hub, name) {
      const onHub = kubectl(hub);
      const cluster = {
        apiVersion: "flotilla.dev/v1alpha1",
        kind: "LogicalCluster",
        metadata: { name },
        spec: { profile: "empty" },
      };
      onHub(["create", "-f", "-"], JSON.stringify(cluster));
      const file = join(folder, `${name}.kubeconfig`);
      const path = `/apis/flotilla.dev/v1alpha1/logicalclusters/${name}/kubeconfig`;
      writeFileSync(file, onHub(["create", "--raw", path, "-f", "-"], "{}"), { mode: 0o600 });
      return file;
    },
    async until(what, seconds, isSo) {
      const endMs = performance.now() + seconds * 1000;
      while (!attempt(isSo)) {
        for (const [name, child] of running)
          if (child.exitCode !== null)
            throw new Error(`${name} exited with code ${child.exitCode}: ${lastLine(join(folder, `${name}.log`))}`);
        if (performance.now() > endMs) throw new Error(`not reached within ${seconds} s: ${what}`);
        await delay(250);
      }
    },
    mark: (what) => print(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`),
    print,
    onStop: (stop) => void stops.push(stop),
  };
  const stop = async (): Promise<void> => {
    await Promise.all(
      [...running.values()].map(async (child) => {
        if (child.exitCode !== null) return;
        const exited = new Promise<void>((done) => child.once("exit", () => done()));
        child.kill("SIGTERM");
        await Promise.race([exited, delay(PROGRAM_EXIT_MS)]);
        child.kill("SIGKILL");
      }),
    );
    for (const each of stops.toReversed()) await each();
  };
  return { run, stop };
}

/** A command that fails is not so yet. */
function attempt(isSo: () => boolean): boolean {
  try {
    return isSo();
  } catch {
    return false;
  }
}

const lastLine = (file: string): string => readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
