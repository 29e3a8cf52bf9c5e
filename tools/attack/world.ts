/**
 * What an attack gets: a hub of its own on the loopback interface, clients with different identities, and sockets for
 * input that no client would send.
 */
import { once } from "node:events";
import http2 from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { startFlotilla, type RunningFleet } from "../bench/process.ts";
import { connectHttp1, connectHttp2, type Answer, type Api, type Connection } from "../../test/programs/raw-client.ts";

/** Members of the hub; both are simulated in its process. */
export const MEMBERS = ["member1", "member2"] as const;

export interface Credentials {
  token?: string;
  cert?: string;
  key?: string;
}

export interface World {
  origin: string;
  port: number;
  pid: number;
  data: string;
  ca: string;
  adminToken: string;
  /** The administrator of the hub. */
  admin: Api;
  /** Attacks are smaller. */
  isShort: boolean;
  /** Ends an attack that takes too long. */
  signal: AbortSignal;
  /** A client; anonymous without credentials. The attack does not close it. */
  api(credentials: Credentials, options?: { cluster?: string; http1?: boolean }): Api;
  /** The token of the administrator of a member. */
  memberToken(member: string): Promise<string>;
  /** A new service account of the hub, with the permissions of a ClusterRole in its namespace. */
  account(options?: { role?: string; namespace?: string; cluster?: string; token?: string }): Promise<Account>;
  /** A new namespace of the hub. */
  namespace(prefix: string): Promise<string>;
  socket(protocol?: "http/1.1" | "h2"): Promise<TLSSocket>;
  session(): Promise<http2.ClientHttp2Session>;
  /** Runs when the attack has ended, however it ends. */
  onEnd(close: () => unknown): void;
}

export interface Account {
  name: string;
  namespace: string;
  token: string;
  api: Api;
}

/** One attacker at a time: what it opened and created is closed when it ends. */
interface Visit {
  world: Omit<World, "signal">;
  end(): Promise<void>;
}

export interface AttackedHub {
  pid: number;
  isAlive(): boolean;
  /** `inspect` sees all responses to clients that are not the administrator's. */
  visit(inspect?: (text: string) => void): Visit;
  stop(): Promise<void>;
}

/** Namespaces that are kept for the attacks of a family. */
const KEPT = "many";

export async function startHub({
  isShort,
  flags = [],
}: {
  isShort: boolean;
  flags?: readonly string[];
}): Promise<AttackedHub> {
  const fleet = await startFlotilla([
    "--member-names",
    MEMBERS.join(","),
    "--nodes",
    "1",
    "--log-level",
    "error",
    ...flags,
  ]);
  const { server, ca = "", token } = await connectionOf(await loadKubeconfig(fleet.kubeconfig("hub")));
  const adminToken = typeof token === "string" ? token : "";
  const hub: HubConnection = { fleet, server, ca, adminToken, admin: connectHttp2({ server, ca, token: adminToken }) };
  return {
    pid: fleet.pid,
    isAlive: () => isRunning(fleet.pid),
    visit(inspect) {
      const closing: (() => unknown)[] = [];
      return {
        world: createWorld(hub, isShort, (close) => void closing.push(close), inspect),
        async end() {
          for (const close of closing.splice(0).reverse()) await close();
        },
      };
    },
    async stop() {
      hub.admin.close();
      await fleet.stop();
    },
  };
}

interface HubConnection {
  fleet: RunningFleet;
  server: URL;
  ca: string;
  adminToken: string;
  admin: Api;
}
let created = 0;

function createWorld(
  hub: HubConnection,
  isShort: boolean,
  onEnd: World["onEnd"],
  inspect: ((text: string) => void) | undefined,
): Visit["world"] {
  const { fleet, server, ca, adminToken, admin } = hub;
  const port = Number(server.port);
  const api: World["api"] = (credentials, { cluster, http1 = false } = {}) => {
    const path = cluster === undefined ? "" : `/clusters/${cluster}`;
    const connection: Connection = { server: new URL(server.origin + path), ca, ...credentials };
    const client = http1 ? connectHttp1(connection) : connectHttp2(connection);
    onEnd(() => client.close());
    return inspect && credentials.token !== adminToken ? inspected(client, inspect) : client;
  };
  const namespace: World["namespace"] = async (prefix) => {
    const name = `${prefix}-${++created}`;
    await must(admin.create("/api/v1/namespaces", { metadata: { name } }));
    if (prefix !== KEPT) onEnd(() => admin.delete(`/api/v1/namespaces/${name}`));
    return name;
  };
  return {
    origin: server.origin,
    port,
    pid: fleet.pid,
    data: fleet.data,
    ca,
    adminToken,
    admin,
    isShort,
    onEnd,
    api,
    namespace,
    async memberToken(member) {
      const { token: found } = await connectionOf(await loadKubeconfig(fleet.kubeconfig(member)));
      return typeof found === "string" ? found : "";
    },
    async account({ role, namespace: given, cluster, token: by } = {}) {
      const owner = cluster === undefined ? admin : api({ token: by ?? adminToken }, { cluster });
      const where = given ?? (cluster === undefined ? await namespace("tenant") : "default");
      return createAccount(owner, (bearer) => api({ token: bearer }, { cluster }), {
        namespace: where,
        name: `account-${++created}`,
        role,
      });
    },
    async socket(protocol = "http/1.1") {
      const socket = connectTls({ host: "127.0.0.1", port, ca, ALPNProtocols: [protocol] });
      onEnd(() => socket.destroy());
      await once(socket, "secureConnect");
      // Most of these connections are meant to be closed by the server.
      socket.on("error", () => socket.destroy());
      return socket;
    },
    async session() {
      const session = http2.connect(server.origin, { ca });
      onEnd(() => session.destroy());
      await once(session, "connect");
      session.on("error", () => session.destroy());
      return session;
    },
  };
}

function inspected(api: Api, inspect: (text: string) => void): Api {
  const seen = async (answer: Promise<Answer>): Promise<Answer> => {
    const got = await answer;
    inspect(got.text);
    return got;
  };
  return {
    request: (...args) => seen(api.request(...args)),
    get: (...args) => seen(api.get(...args)),
    create: (...args) => seen(api.create(...args)),
    replace: (...args) => seen(api.replace(...args)),
    patch: (...args) => seen(api.patch(...args)),
    delete: (...args) => seen(api.delete(...args)),
    watch: (...args) => api.watch(...args),
    as: (headers) => inspected(api.as(headers), inspect),
    close: () => api.close(),
  };
}

async function createAccount(
  owner: Api,
  connect: (token: string) => Api,
  { namespace, name, role }: { namespace: string; name: string; role: string | undefined },
): Promise<Account> {
  await must(owner.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } }));
  if (role !== undefined)
    await must(
      owner.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      }),
    );
  const answer = await must(
    owner.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { spec: {} }),
  );
  const { token = "" } = (answer.body.status ?? {}) as { token?: string };
  return { name, namespace, token, api: connect(token) };
}

/** Preparations of an attack must succeed. */
export async function must<T extends { status: number; text: string }>(answer: Promise<T>): Promise<T> {
  const got = await answer;
  if (got.status >= 300) throw new Error(`a preparation was rejected: ${got.status} ${got.text.slice(0, 300)}`);
  return got;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** Asks until the answer is defined; undefined if it never was. */
export async function eventually<T>(ask: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
  const end = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() > end) return answer;
    await delay(200);
  }
}
