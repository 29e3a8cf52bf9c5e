/**
 * A whole server behind its real listener, for attacks: TLS, HTTP/2 and HTTP/1.1 on one port, and three logical
 * clusters that trust different tokens. All logged errors are recorded, because no input may cause one.
 */
import { once } from "node:events";
import http2 from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { kindAdmissions, createProfiles } from "@flotilla/server";
import { createCertificateAuthority, createProtobufCodec } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { kubernetesKinds } from "@flotilla/kubernetes";
import {
  createApiServer,
  createAuthenticator,
  createCache,
  createHttpServer,
  createMemoryEngine,
  createSigningKey,
  logicalClusterAdmission,
} from "@flotilla/apiserver";
import type { ApiServer, HttpServerOptions } from "@flotilla/apiserver";
import { silentLog, systemClock, systemRandom, type Log } from "@flotilla/base";
import { connectHttp1, connectHttp2, type Api, type Connection } from "../programs/raw-client.ts";

/** The permissions: `admin` everything everywhere, `paris` and `oslo` everything in their cluster, `ann` nothing. */
export const TOKENS = { admin: "admin-token", paris: "paris-token", oslo: "oslo-token", ann: "ann-token" } as const;

export interface FrontDoor {
  port: number;
  authority: CertificateAuthority;
  server: ApiServer;
  /** The logged errors. */
  failures: readonly unknown[];
  /** A client of a cluster; anonymous without a token. */
  api(options?: { token?: string; cluster?: string; http1?: boolean }): Api;
  /** A raw TLS connection, for input that no client would send. */
  socket(protocol?: "http/1.1" | "h2"): Promise<TLSSocket>;
  session(): Promise<http2.ClientHttp2Session>;
  /** Whether another client is served, over both protocols. */
  isServing(): Promise<boolean>;
  close(): Promise<void>;
}

let sharedKey: Promise<string> | undefined;
/**
 * The signing key of service account tokens, shared by all servers, because generating one takes longer than most
 * tests.
 */
export const signingKey = (): Promise<string> => (sharedKey ??= createSigningKey());

export async function openFrontDoor(
  options: Partial<
    Pick<HttpServerOptions, "clock" | "maxConnections" | "maxHandshakes" | "handshakeTimeoutMs" | "headersTimeoutMs">
  > & {
    anonymous?: boolean;
  } = {},
): Promise<FrontDoor> {
  const { anonymous = false, ...http } = options;
  const failures: unknown[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields) => void failures.push({ message, ...fields }),
    with: () => log,
  };
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing([]);
  const profiles = createProfiles({
    rootCertificate: authority.certificate,
    startedOn: "2024-05-01",
    clusterKubeconfig: (cluster) => `credentials of ${cluster}`,
  });
  const cache = await createCache(createMemoryEngine());
  const server = await createApiServer({
    cache,
    clock: systemClock,
    random: systemRandom,
    log,
    admissions: [...kindAdmissions, logicalClusterAdmission(Object.keys(profiles))],
    profiles,
    protobuf: createProtobufCodec(kubernetesKinds),
    serviceAccounts: { signingKey },
  });
  for (const cluster of ["hub", "paris", "oslo"])
    await server.addCluster(cluster, cluster === "hub" ? "hub" : "member-bare");
  const masters = ["system:masters"];
  server.tokens.add({ token: TOKENS.admin, user: "admin", groups: masters });
  for (const cluster of ["paris", "oslo"] as const)
    server.tokens.add({ token: TOKENS[cluster], user: "admin", groups: masters, cluster });
  server.tokens.add({ token: TOKENS.ann, user: "ann" });
  const door = createHttpServer({
    handle: server.handle,
    authenticator: createAuthenticator({ clusterPrefix: "example.com:cluster:", tokens: server.tokens, anonymous }),
    tls: { ...serving, clientCa: authority.certificate },
    log,
    drainMs: 100,
    ...http,
  });
  const { port } = await door.listen(0);
  const closing: (() => void)[] = [];

  const frontDoor: FrontDoor = {
    port,
    authority,
    server,
    failures,
    api({ token, cluster, http1 = false } = {}) {
      const connection: Connection = {
        server: new URL(`https://127.0.0.1:${port}${cluster === undefined ? "" : `/clusters/${cluster}`}`),
        ca: authority.certificate,
        token,
      };
      const api = http1 ? connectHttp1(connection) : connectHttp2(connection);
      closing.push(() => api.close());
      return api;
    },
    async socket(protocol = "http/1.1") {
      const socket = connectTls({ host: "127.0.0.1", port, ca: authority.certificate, ALPNProtocols: [protocol] });
      closing.push(() => socket.destroy());
      await once(socket, "secureConnect");
      // Most of these connections are meant to be cut off.
      socket.on("error", () => socket.destroy());
      return socket;
    },
    async session() {
      const session = http2.connect(`https://127.0.0.1:${port}`, { ca: authority.certificate });
      closing.push(() => session.destroy());
      await once(session, "connect");
      session.on("error", () => session.destroy());
      return session;
    },
    async isServing() {
      for (const http1 of [false, true]) {
        const api = frontDoor.api({ token: TOKENS.admin, http1 });
        const { status } = await api.get("/api/v1/namespaces/default");
        api.close();
        if (status !== 200) return false;
      }
      return true;
    },
    async close() {
      for (const close of closing.splice(0)) close();
      await door.close();
      await server.close();
      await cache.close();
    },
  };
  return frontDoor;
}

/** All data that a connection receives until it ends. */
export async function restOf(socket: TLSSocket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // However it ends: most of these connections end with an error.
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks).toString();
}

/** The status line and the body of a raw HTTP/1.1 response. */
export function parseAnswer(text: string): {
  status: number;
  body: { kind?: string; reason?: string; message?: string; code?: number };
} {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return { status, body: body.startsWith("{") ? (JSON.parse(body) as { kind?: string }) : {} };
}
