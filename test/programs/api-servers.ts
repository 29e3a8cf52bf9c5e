/**
 * The servers that the Kubernetes API contract runs against: Flotilla as shipped, always; and the real kube-apiserver
 * with its controllers if `$REAL_BIN` has them, which validates the tests themselves.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe } from "vitest";
import { ensureCertificates } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { realBinaries, startKube } from "./kube.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";
import { connectHttp1, connectHttp2 } from "./raw-client.ts";
import type { Api, Connection } from "./raw-client.ts";

/** A running server, and what a test needs to reach it as any user. */
export interface Subject {
  readonly name: "flotilla" | "kube-apiserver";
  readonly kubeconfig: string;
  readonly connection: Connection;
  /** Authenticated as the administrator, over HTTP/2. */
  readonly api: Api;
  /** A separate connection with other credentials; closed with the server. */
  connect(credentials?: Partial<Pick<Connection, "token" | "cert" | "key">>, protocol?: "h2" | "http/1.1"): Api;
  /** A client certificate signed by the server's CA. */
  certificate(commonName: string, organizations: readonly string[]): Promise<{ cert: string; key: string }>;
}

interface Started {
  kubeconfig: string;
  pki: string;
  stop(): Promise<void>;
}

export interface ContractOptions {
  /** Simulated nodes of Flotilla's member; the real server has none. */
  nodes?: number;
  /** The only server that the suite applies to, if the other cannot support it. */
  only?: Subject["name"];
  /** Why the suite cannot run on this machine. */
  skip?: string | undefined;
}

/** The namespace that is ready for every suite: its service account exists. */
export const NAMESPACE = "contract";

const START_LIMIT_MS = 120_000;
const TEST_LIMIT_MS = 60_000;
/** The limit for eventual conditions (controllers, discovery), which normally take milliseconds. */
const EVENTUALLY_MS = 40_000;
const POLL_MS = 25;

// Opt-in, because the real server makes these suites several times slower.
const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();

/** Declares a suite once per server. `subject` is only available inside tests and hooks, where it is running. */
export function contract(
  area: string,
  suite: (subject: Subject) => void,
  { nodes = 0, only, skip }: ContractOptions = {},
): void {
  if (skip !== undefined) process.stdout.write(`skipped: ${area}: ${skip}\n`);
  const servers: [Subject["name"], (() => Promise<Started>) | undefined][] = [
    ["flotilla", () => startFlotilla(nodes)],
    ["kube-apiserver", binaries === undefined ? undefined : () => startReal(binaries)],
  ];
  for (const [name, start] of servers) {
    if (only !== undefined && only !== name) continue;
    if (!start) {
      process.stdout.write(`skipped: ${area} on ${name}: $REAL_BIN is not set, or has no etcd and kube-apiserver\n`);
      continue;
    }
    describe.skipIf(skip !== undefined)(`${area} on ${name}`, { timeout: TEST_LIMIT_MS }, () => {
      const { subject, open, close } = createSubject(name);
      let started: Started | undefined;
      beforeAll(async () => {
        started = await start();
        await open(started);
      }, START_LIMIT_MS);
      afterAll(async () => {
        close();
        await started?.stop();
      }, START_LIMIT_MS);
      suite(subject);
    });
  }
}

/** Reads until `isThere`; rejects with the last result. */
export async function eventually<T>(what: string, read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + EVENTUALLY_MS;
  for (;;) {
    const value = await read();
    if (isThere(value)) return value;
    if (performance.now() > deadline)
      throw new Error(
        `${what} did not happen within ${EVENTUALLY_MS} ms; last seen: ${JSON.stringify(value)?.slice(0, 1000)}`,
      );
    await delay(POLL_MS);
  }
}

function createSubject(name: Subject["name"]): {
  subject: Subject;
  open(started: Started): Promise<void>;
  close(): void;
} {
  let running: { started: Started; connection: Connection; api: Api } | undefined;
  const apis: Api[] = [];
  const get = (): NonNullable<typeof running> => {
    if (!running) throw new Error("the server is used before it runs; use it inside tests and hooks");
    return running;
  };
  const subject: Subject = {
    name,
    get kubeconfig() {
      return get().started.kubeconfig;
    },
    get connection() {
      return get().connection;
    },
    get api() {
      return get().api;
    },
    connect(credentials, protocol = "h2") {
      const { server, ca, ...own } = get().connection;
      const connection = { server, ca, ...(credentials ?? own) };
      const api = protocol === "h2" ? connectHttp2(connection) : connectHttp1(connection);
      apis.push(api);
      return api;
    },
    async certificate(commonName, organizations) {
      const { clients } = await ensureCertificates({
        directory: get().started.pki,
        hosts: [],
        clients: { [commonName]: { commonName, organizations } },
        clock: systemClock,
        log: silentLog,
      });
      const pair = clients[commonName];
      if (!pair) throw new Error(`no certificate was made for ${commonName}`);
      return { cert: pair.certificate, key: pair.key };
    },
  };
  return {
    subject,
    async open(started) {
      const { server, ca, cert, key, token } = await connectionOf(await loadKubeconfig(started.kubeconfig));
      const connection: Connection = {
        server,
        ...textOf({ ca, cert, key }),
        token: typeof token === "string" ? token : undefined,
      };
      const api = connectHttp2(connection);
      apis.push(api);
      running = { started, connection, api };
      await api.create("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
      await eventually(
        "the namespace's service account",
        () => api.get(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`),
        ({ status }) => status === 200,
      );
    },
    close() {
      for (const api of apis) api.close();
    },
  };
}

function textOf(fields: Readonly<Record<"ca" | "cert" | "key", unknown>>): Pick<Connection, "ca" | "cert" | "key"> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === "string" || Buffer.isBuffer(value) ? [[name, value.toString()]] : [],
    ),
  );
}

async function startFlotilla(nodes: number): Promise<Started> {
  const directory = temporaryDirectory();
  const flotilla = await up(directory.path, "--members", "1", "--nodes", String(nodes), "--ephemeral");
  return {
    kubeconfig: flotilla.kubeconfig("member1"),
    pki: join(directory.path, "pki"),
    async stop() {
      const { code, stderr } = await flotilla.stop("SIGTERM");
      directory.remove();
      if (code !== 0) throw new Error(`flotilla ended with exit code ${code}: ${stderr}`);
    },
  };
}

/** The controllers that a Kubernetes API relies on; Flotilla's member has them built in. */
const CONTROLLERS = [
  "namespace",
  "garbage-collector",
  "serviceaccount",
  "serviceaccount-token",
  "root-ca-certificate-publisher",
  "clusterrole-aggregation",
  "resourcequota",
];

async function startReal(directory: string): Promise<Started> {
  const kube = await startKube(directory);
  const run = dirname(kube.kubeconfig);
  const manager = join(directory, "kube-controller-manager");
  if (!existsSync(manager)) {
    await kube.stop();
    throw new Error(
      `${directory} has kube-apiserver but no kube-controller-manager, whose controllers the contract needs`,
    );
  }
  const child = spawn(
    manager,
    [
      `--kubeconfig=${kube.kubeconfig}`,
      "--secure-port=0",
      "--leader-elect=false",
      `--controllers=${CONTROLLERS.map((name) => `${name}-controller`).join(",")}`,
      `--service-account-private-key-file=${join(run, "sa.key")}`,
      `--root-ca-file=${join(run, "ca.crt")}`,
    ],
    { stdio: "ignore" },
  );
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    kubeconfig: kube.kubeconfig,
    pki: join(run, "pki"),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await kube.stop();
    },
  };
}
