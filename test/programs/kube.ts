/** Starts a real kube-apiserver with its etcd from $REAL_BIN, to be measured next to Flotilla. */
import { spawn } from "node:child_process";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ensureCertificates } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import { renderKubeconfig } from "@flotilla/client";
import { connectApi } from "./api-client.ts";

export interface RunningKube {
  startMs: number;
  pids: readonly number[];
  kubeconfig: string;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 90_000;

/** The directory of the real programs, if it contains all of these. */
export function realBinaries(names: readonly string[] = ["etcd", "kube-apiserver"]): string | undefined {
  const directory = process.env["REAL_BIN"] ?? join(homedir(), ".cache/flotilla/real");
  return names.every((name) => existsSync(join(directory, name))) ? directory : undefined;
}

export async function startKube(binaries: string): Promise<RunningKube> {
  const run = mkdtempSync(join(tmpdir(), "flotilla-bench-kube-"));
  const at = (name: string): string => join(run, name);
  const [api, etcd, peer] = await Promise.all([freePort(), freePort(), freePort()]);
  const kubeconfig = await writeKubeFiles(at, `https://127.0.0.1:${api}`);

  const started = performance.now();
  const children = [
    start("etcd", etcdFlags(at, { etcd, peer })),
    start("kube-apiserver", apiServerFlags(at, { api, etcd })),
  ];
  const stop = async (): Promise<void> => {
    for (const { child, exited } of children.toReversed()) {
      child.kill("SIGTERM");
      await exited;
    }
    rmSync(run, { recursive: true, force: true });
  };
  try {
    while (!(await isReady(kubeconfig))) {
      const ended = children.find(({ child }) => child.exitCode !== null);
      if (ended || performance.now() - started > START_LIMIT_MS)
        throw new Error(`kube-apiserver is not ready; see its log in ${run}`);
      await delay(20);
    }
  } catch (error) {
    for (const { child } of children) child.kill("SIGKILL");
    throw error;
  }
  return {
    startMs: performance.now() - started,
    pids: children.map(({ child }) => child.pid ?? 0),
    kubeconfig,
    stop,
  };

  function start(name: string, args: string[]) {
    const log = openSync(at(`${name}.log`), "w");
    const child = spawn(join(binaries, name), args, { stdio: ["ignore", log, log] });
    return { child, exited: new Promise<void>((resolve) => child.once("exit", () => resolve())) };
  }
}

type At = (file: string) => string;

/**
 * Writes what `etcdFlags` and `apiServerFlags` name: the data directory, the certificates, and the key of service accounts.
 * Returns the path of an administrator's kubeconfig.
 */
export async function writeKubeFiles(at: At, server: string): Promise<string> {
  const { authority, serving, clients } = await ensureCertificates({
    directory: at("pki"),
    hosts: [],
    clients: { admin: { commonName: "kubernetes-admin", organizations: ["system:masters"] } },
    clock: systemClock,
    log: silentLog,
  });
  const { admin } = clients;
  if (!admin) throw new Error("the administrator's certificate was not created");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const account = privateKey.export({ type: "pkcs1", format: "pem" });
  const kubeconfig = at("admin.kubeconfig");
  const connection = { server, ca: authority.certificate, cert: admin.certificate, key: admin.key };
  for (const [path, content] of [
    [at("sa.key"), account],
    [at("sa.pub"), createPublicKey(account).export({ type: "spki", format: "pem" })],
    [at("ca.crt"), authority.certificate],
    [at("ca.key"), authority.key],
    [at("server.crt"), serving.certificate],
    [at("server.key"), serving.key],
    [kubeconfig, renderKubeconfig({ name: "kube", ...connection })],
  ] as const)
    writeFileSync(path, content);
  mkdirSync(at("data"));
  return kubeconfig;
}

/** An etcd on loopback with its data in the directory `data`. */
export function etcdFlags(at: At, { etcd, peer }: { etcd: number; peer: number }): string[] {
  const [client, other] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
  return [
    `--data-dir=${at("data")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${other}`,
    `--initial-advertise-peer-urls=${other}`,
    `--initial-cluster=default=${other}`,
  ];
}

/** An API server on loopback with RBAC, with all keys in one directory. */
export function apiServerFlags(at: At, { api, etcd }: { api: number; etcd: number }): string[] {
  return [
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    `--secure-port=${api}`,
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${at("sa.pub")}`,
    `--service-account-signing-key-file=${at("sa.key")}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    `--client-ca-file=${at("ca.crt")}`,
    `--tls-cert-file=${at("server.crt")}`,
    `--tls-private-key-file=${at("server.key")}`,
  ];
}

/** Whether the API server answers that it is ready. */
export async function isReady(kubeconfig: string): Promise<boolean> {
  try {
    const api = await connectApi(kubeconfig);
    try {
      return (await api.call("GET", "/readyz")).status === 200;
    } finally {
      api.close();
    }
  } catch {
    return false; // The server does not listen yet.
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
