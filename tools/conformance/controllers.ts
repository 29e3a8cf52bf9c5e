/**
 * `bin/node24 tools/conformance/controllers.ts`: runs a stock kube-controller-manager and a stock kube-scheduler against a
 * simulated member with a constantly changing workload, and reports the errors in their logs. With `--kubeconfig` the same
 * against another cluster with nodes, to compare.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { startFlotilla } from "../bench/process.ts";
import { errorClasses } from "./error-lines.ts";

const USAGE = `Usage: bin/node24 tools/conformance/controllers.ts [--minutes N] [--kubeconfig FILE]

  --minutes N        how long to run (default 10)
  --kubeconfig FILE  use this cluster, which must have nodes and no workload, instead of starting one

kube-controller-manager, kube-scheduler and kubectl of Kubernetes 1.36 are taken from $REAL_BIN (default ~/.cache/flotilla/real).
`;
const PROGRAMS = ["kube-controller-manager", "kube-scheduler", "kubectl"];
/** Lets created objects become complete, and deleted ones disappear. */
const STEP_MS = 15_000;
/** For a fleet's or a user's cluster: as long as a user would wait. */
const KUBECTL_TIMEOUT = "--timeout=60s";

type Kubectl = (args: string[], input?: string) => string;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let minutes: number;
  let values: { kubeconfig?: string };
  try {
    const parsed = parseArgs({
      args,
      options: {
        minutes: { type: "string", default: "10" },
        kubeconfig: { type: "string" },
      },
    });
    values = parsed.values;
    minutes = Number(parsed.values.minutes);
    if (!(minutes > 0)) throw new TypeError("--minutes must be a number above 0");
  } catch (error) {
    process.stderr.write(`controllers: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  const bin = process.env["REAL_BIN"] ?? join(homedir(), ".cache/flotilla/real");
  const absent = PROGRAMS.map((name) => join(bin, name)).find((file) => !existsSync(file));
  if (absent !== undefined) {
    process.stderr.write(`controllers: ${absent} does not exist; set REAL_BIN\n`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "flotilla-controllers-"));
  const fleet =
    values.kubeconfig === undefined ? await startFlotilla(["--members", "1", "--kruise", "none"]) : undefined;
  try {
    const kubeconfig = fleet?.kubeconfig("member1") ?? resolve(values.kubeconfig ?? "");
    await runAgainst(bin, kubectlFor(bin, kubeconfig), { kubeconfig, folder, minutes });
    return 0;
  } finally {
    await fleet?.stop();
  }
}

async function runAgainst(
  bin: string,
  kubectl: Kubectl,
  options: { kubeconfig: string; folder: string; minutes: number },
): Promise<void> {
  const programs = [
    await startProgram(bin, "kube-controller-manager", options.folder, await managerFlags(options)),
    await startProgram(bin, "kube-scheduler", options.folder, schedulerFlags(options)),
  ];
  process.stdout.write(`logs in ${options.folder}\n`);
  try {
    // Its controllers start one after the other; before that a new namespace gets no service account.
    await delay(STEP_MS);
    await changeThings(kubectl, performance.now() + options.minutes * 60_000);
  } finally {
    for (const program of programs) await stop(program);
  }
  for (const { name, log } of programs) {
    const classes = errorClasses(readFileSync(log, "utf8"));
    process.stdout.write(`${name}, ${options.minutes} minutes: ${classes.size} error classes\n`);
    for (const [error, { count }] of classes) process.stdout.write(`${String(count).padStart(6)}  ${error}\n`);
  }
}

interface Program {
  name: string;
  log: string;
  child: ChildProcess;
}

async function startProgram(bin: string, name: string, folder: string, flags: readonly string[]): Promise<Program> {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, "w");
  const child = spawn(join(bin, name), flags, { stdio: ["ignore", output, output] });
  await once(child, "spawn");
  return { name, log, child };
}

function schedulerFlags({ kubeconfig }: { kubeconfig: string }): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--secure-port=0",
  ];
}

async function managerFlags({ kubeconfig, folder }: { kubeconfig: string; folder: string }): Promise<string[]> {
  const authority = join(folder, "ca.crt");
  const key = join(folder, "tokens.key");
  const { ca = "" } = await connectionOf(await loadKubeconfig(kubeconfig));
  writeFileSync(authority, ca);
  // Tokens in Secrets that it signs with this key are not valid anywhere; the workload uses none.
  writeFileSync(
    key,
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
    { mode: 0o600 },
  );
  return [
    `--kubeconfig=${kubeconfig}`,
    "--secure-port=0",
    `--root-ca-file=${authority}`,
    `--service-account-private-key-file=${key}`,
    "--use-service-account-credentials=true",
  ];
}

async function stop({ name, child }: Program): Promise<void> {
  if (child.exitCode !== null) throw new Error(`${name} exited with code ${child.exitCode}`);
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/**
 * Namespaces are created and deleted, Deployments roll and scale, ReplicaSets are orphaned, and occasionally everything
 * is deleted in the foreground.
 */
async function changeThings(kubectl: Kubectl, endMs: number): Promise<void> {
  const apply = (): string => kubectl(["apply", "-f", join(import.meta.dirname, "workload.yaml")]);
  apply();
  for (let round = 1; performance.now() < endMs; round++) {
    const namespace = `round-${round}`;
    kubectl(["create", "namespace", namespace]);
    kubectl(["-n", namespace, "create", "deployment", "d", "--image=web:1", "--replicas=2"]);
    kubectl(["-n", namespace, "create", "serviceaccount", "robot"]);
    kubectl(
      ["-n", namespace, "create", "-f", "-"],
      JSON.stringify({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } }),
    );
    kubectl(["-n", "shop", "scale", "deployment/web", `--replicas=${1 + (round % 5)}`]);
    kubectl(["-n", "shop", "set", "image", "deployment/web", `c=web:${round}`]);
    kubectl(["-n", "shop", "scale", "statefulset/db", `--replicas=${1 + (round % 3)}`]);
    await delay(STEP_MS);
    kubectl(["-n", namespace, "create", "token", "robot"]);
    kubectl(["delete", "namespace", namespace, KUBECTL_TIMEOUT]);
    kubectl(["-n", "shop", "delete", "replicasets", "--all", "--cascade=orphan", "--wait=false"]);
    if (round % 5 === 0) {
      kubectl(["-n", "shop", "delete", "deployment/web", "--cascade=foreground", KUBECTL_TIMEOUT]);
      // Those of orphaned ReplicaSets of former images would use up the quota.
      kubectl(["-n", "shop", "delete", "pods", "--selector=app=web", KUBECTL_TIMEOUT]);
      apply();
    }
    await delay(STEP_MS);
  }
  kubectl(["delete", "namespace", "shop", KUBECTL_TIMEOUT]);
}

/** Its errors are written to our standard error and thrown: the workload must work on every server. */
function kubectlFor(bin: string, kubeconfig: string): Kubectl {
  return (args, input = "") =>
    execFileSync(join(bin, "kubectl"), ["--kubeconfig", kubeconfig, ...args], {
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
    });
}
