/**
 * A member that the hub connects to and that may misbehave: a proxy before a logical cluster of the hub, which answers
 * as the real one until it is switched to another mode. Its connections are TLS on the loopback interface.
 */
import { once } from "node:events";
import https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { parseKubeconfig, connectionOf } from "@flotilla/client";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { eventually, must, type World } from "./world.ts";

/** Answers a request; `forward` answers it as the real cluster would, `reset` resets the TCP connection. */
export type Mode = (request: IncomingMessage, response: ServerResponse, forward: () => void, reset: () => void) => void;

export interface HostileMember {
  name: string;
  setMode(mode: Mode): void;
  /** Requests that reached the present mode. */
  reached(): number;
  /** Closes all connections, so that the next requests reach the present mode. */
  disconnect(): void;
}

const CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters";
const LOGICAL_CLUSTERS = "/apis/flotilla.dev/v1alpha1/logicalclusters";
const SECRETS = "karmada-cluster";
const READY_LIMIT_MS = 40_000;
let created = 0;

const good: Mode = (_request, _response, forward) => forward();

/** What a hostile member looks at in what the hub sends it: its text, and a token that is not its own. */
export interface Loot {
  text(text: string): void;
  foreignToken(header: string): void;
}

/** Joins a member that is ready when this returns. It is removed when the attack ends. */
export async function joinHostileMember(world: Omit<World, "signal">, loot?: Loot): Promise<HostileMember> {
  const { admin } = world;
  const name = `hostile-${++created}`;
  const backend = `${name}-backend`;
  await must(admin.create(LOGICAL_CLUSTERS, { metadata: { name: backend }, spec: { profile: "member-bare" } }));
  const kubeconfig = await must(admin.create(`${LOGICAL_CLUSTERS}/${backend}/kubeconfig`, ""));
  const token = await administratorToken(world, backend, kubeconfig.text);
  const authority = await createCertificateAuthority({ clock: systemClock });
  const proxy = await startProxy(world, backend, await authority.issueServing([]), (request) => {
    const { authorization } = request.headers;
    if (authorization !== undefined && authorization !== `Bearer ${token}`) loot?.foreignToken(authorization);
    loot?.text(`${request.url} ${request.rawHeaders.join(" ")}`);
    return loot?.text;
  });
  world.onEnd(() => proxy.close());
  await must(
    admin.create(`/api/v1/namespaces/${SECRETS}/secrets`, {
      metadata: { name },
      stringData: { token, caBundle: authority.certificate },
    }),
  );
  await must(
    admin.create(CLUSTERS, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: {
        syncMode: "Push",
        id: name,
        apiEndpoint: `https://127.0.0.1:${proxy.port}`,
        secretRef: { namespace: SECRETS, name },
      },
    }),
  );
  world.onEnd(() => leave(world, name, backend));
  const isReady = await eventually(
    async () => ((await readyOf(world, name)).startsWith("True") ? true : undefined),
    READY_LIMIT_MS,
  );
  if (!isReady) throw new Error(`the member did not become ready: ${await readyOf(world, name)}`);
  return { name, setMode: proxy.setMode, reached: proxy.reached, disconnect: proxy.disconnect };
}

/** A Secret of a Cluster has a token, and the kubeconfig of a logical cluster a certificate. */
async function administratorToken(world: Omit<World, "signal">, backend: string, kubeconfig: string): Promise<string> {
  const { cert, key } = await connectionOf(parseKubeconfig(kubeconfig));
  const there = world.api({ cert, key }, { cluster: backend });
  const account = { kind: "ServiceAccount", name: "hub", namespace: "kube-system" };
  await must(there.create("/api/v1/namespaces/kube-system/serviceaccounts", { metadata: { name: account.name } }));
  await must(
    there.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "hub" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [account],
    }),
  );
  const { body } = await must(
    there.create("/api/v1/namespaces/kube-system/serviceaccounts/hub/token", { spec: { expirationSeconds: 3_600 } }),
  );
  return (body.status as { token: string }).token;
}

/** The condition Ready of a Cluster: status, reason and message. */
export async function readyOf({ admin }: Pick<World, "admin">, name: string): Promise<string> {
  const { status } = (await admin.get(`${CLUSTERS}/${name}`)).body as {
    status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
  };
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready ? `${ready.status} ${ready.reason} ${ready.message}` : "no condition";
}

async function leave({ admin }: Pick<World, "admin">, name: string, backend: string): Promise<void> {
  await admin.delete(`${CLUSTERS}/${name}`);
  await admin.delete(`/api/v1/namespaces/${SECRETS}/secrets/${name}`);
  await admin.delete(`${LOGICAL_CLUSTERS}/${backend}`);
}

interface Proxy {
  port: number;
  setMode(mode: Mode): void;
  reached(): number;
  disconnect(): void;
  close(): void;
}

async function startProxy(
  world: Pick<World, "ca" | "origin">,
  backend: string,
  serving: { certificate: string; key: string },
  look: (request: IncomingMessage) => ((text: string) => void) | undefined,
): Promise<Proxy> {
  let mode = good;
  let reached = 0;
  /** By the client's port: a TLS socket cannot reset its connection. */
  const sockets = new Map<number, Socket>();
  const agent = new https.Agent({ ca: world.ca, keepAlive: true });
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    reached++;
    const inspect = look(request);
    response.on("error", () => response.destroy());
    const port = request.socket.remotePort ?? 0;
    mode(
      request,
      response,
      () => {
        if (inspect) request.on("data", (chunk: Buffer) => inspect(chunk.toString("latin1")));
        forward(request, response, { agent, origin: world.origin, backend });
      },
      () => sockets.get(port)?.resetAndDestroy(),
    );
  });
  server.on("connection", (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    sockets.set(port, socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(port));
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const disconnect = (): void => {
    for (const socket of sockets.values()) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setMode(next) {
      mode = next;
      reached = 0;
      disconnect();
    },
    reached: () => reached,
    disconnect,
    close() {
      server.close();
      disconnect();
      agent.destroy();
    },
  };
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { agent, origin, backend }: { agent: https.Agent; origin: string; backend: string },
): void {
  const { method, headers, url = "/" } = request;
  const onward = https.request(new URL(`/clusters/${backend}${url}`, origin), {
    agent,
    method,
    headers: { ...headers, host: new URL(origin).host },
  });
  onward.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
