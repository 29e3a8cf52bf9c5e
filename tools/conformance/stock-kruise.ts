/**
 * A stock kruise-manager with its webhooks on a member without Flotilla's OpenKruise, for OpenKruise's own end-to-end
 * suite. Nodes and pods are simulated by Flotilla, and KWOK answers for the kruise-daemon.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { costOf } from "../bench/process.ts";
import { GATES, kruiseSuite, prepareMember } from "./kruise.ts";
import type { SuiteMember, UpstreamSuite } from "./kubernetes.ts";

const READY_LIMIT_MS = 180_000;
const ACCOUNT = "kruise-manager";
const NAMESPACE = "kruise-system";

export const stockKruiseSuite: UpstreamSuite = {
  ...kruiseSuite,
  programs: [...kruiseSuite.programs, "kruise-manager", "kruise-config", "kwok"],
  upFlags: ["--kruise", "none"],
  // The stock manager has all of its kinds. Specs that pull images share a node that they create.
  select: (bin, focus) =>
    kruiseSuite
      .select(bin, focus)
      .map((test) => ({ ...test, needs: undefined, serial: /pullimages|imagelistpulljobs/.test(test.suite) })),
  prepare: async (member) => {
    prepareMember(member);
    return startStockKruise(member);
  },
};

async function startStockKruise({ bin, kubeconfig, logs }: SuiteMember): Promise<() => Promise<void>> {
  const kubectl = (args: string[], input = ""): string =>
    execFileSync(join(bin, "kubectl"), ["--kubeconfig", kubeconfig, ...args], {
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
      maxBuffer: 64 << 20,
    });
  kubectl(["apply", "--server-side", "-f", "-"], manifests(kubectl(["kustomize", join(bin, "kruise-config/default")])));
  // Its own account with the rights that its manifests give it.
  const own = JSON.parse(kubectl(["config", "view", "--raw", "--minify", "-o", "json"])) as { users: unknown[] };
  const token = kubectl(["-n", NAMESPACE, "create", "token", ACCOUNT, "--duration=12h"]).trim();
  const [, user = ""] = /"user":\s*"([^"]*)"/.exec(JSON.stringify(own)) ?? [];
  const config = join(logs, "kruise-manager.kubeconfig");
  writeFileSync(config, JSON.stringify({ ...own, users: [{ name: user, user: { token } }] }), { mode: 0o600 });

  const [webhook = 0, metrics = 0, health = 0, pprof = 0] = await freePorts(4);
  const manager = start(
    join(bin, "kruise-manager"),
    [
      "--enable-leader-election=true",
      `--metrics-addr=127.0.0.1:${metrics}`,
      `--health-probe-addr=127.0.0.1:${health}`,
      `--pprof-addr=127.0.0.1:${pprof}`,
      "--logtostderr=true",
      `--feature-gates=${GATES}`,
    ],
    join(logs, "kruise-manager.log"),
    {
      KUBECONFIG: config,
      POD_NAMESPACE: NAMESPACE,
      WEBHOOK_HOST: "localhost",
      WEBHOOK_PORT: String(webhook),
      WEBHOOK_CERT_DIR: join(logs, "kruise-webhook-certs"),
    },
  );
  const daemon = start(
    join(bin, "kwok"),
    [
      `--kubeconfig=${kubeconfig}`,
      "--manage-nodes-with-label-selector=conformance.flotilla.dev/none=true",
      `--config=${join(import.meta.dirname, "node-image-stage.yaml")}`,
    ],
    join(logs, "kwok.log"),
  );
  const stop = async (): Promise<void> => {
    const { cpuSeconds, memoryMiB } = costOf([manager.pid ?? 0]);
    process.stdout.write(`kruise-manager: ${cpuSeconds.toFixed(0)} s of CPU time, ${memoryMiB.toFixed(0)} MiB\n`);
    await Promise.all([manager, daemon].map(end));
  };
  const endMs = performance.now() + READY_LIMIT_MS;
  const count = (kind: string): number => kubectl(["get", kind, "-o", "name"]).split("\n").length;
  // Its controllers start after its webhooks: then every node has a NodeImage.
  while (!(await isReady(health)) || count("nodeimages.apps.kruise.io") < count("nodes")) {
    if (manager.exitCode !== null || performance.now() > endMs) {
      await Promise.all([manager, daemon].map(end));
      throw new Error(`kruise-manager is not ready: ${lastLine(join(logs, "kruise-manager.log"))}`);
    }
    await delay(500);
  }
  return stop;
}

/** As published, without the two workloads that would run in containers. */
function manifests(published: string): string {
  return published
    .split(/^---\n/m)
    .filter((document) => !/^kind: (Deployment|DaemonSet)$/m.test(document))
    .join("---\n");
}

function start(program: string, flags: readonly string[], log: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const output = openSync(log, "a");
  const child = spawn(program, flags, { stdio: ["ignore", output, output], env: { ...process.env, ...env } });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await exited;
  clearTimeout(kill);
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false; // It does not listen yet.
  }
}

/** Ports that were free a moment ago; the programs take no listening socket. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

const lastLine = (file: string): string => readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
