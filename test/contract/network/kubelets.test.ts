/** Logs, commands, ports and proxies of pods on nodes that run elsewhere: the server calls their kubelet. */
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { EndpointSlice, Node, Pod, Service } from "@flotilla/kubernetes";
import { startAggregatedServer } from "@flotilla/testing/aggregated-server.ts";
import type { AggregatedServer, AskedRequest } from "@flotilla/testing/aggregated-server.ts";
import type { ContainerStreams } from "../../../packages/apiserver/src/connect/backend.ts";
import { createDial } from "../../../packages/apiserver/src/connect/dial.ts";
import { createKubeletRuntime } from "../../../packages/apiserver/src/connect/kubelet-runtime.ts";
import { servePortForward } from "../../../packages/apiserver/src/connect/port-forward.ts";
import { serveSpdyCommand } from "../../../packages/apiserver/src/connect/spdy-command.ts";
import { bodyOf } from "../../../packages/apiserver/src/request/byte-streams.ts";
import { createTestServer, PROFILE } from "@flotilla/testing/api-server.ts";

const POD_PATH = "/api/v1/namespaces/default/pods/web";
const never = new AbortController().signal;

let authority: CertificateAuthority;
let kubelet: AggregatedServer;
let answer: (request: AskedRequest, response: ServerResponse) => void;

/** A kubelet that runs `upper`, which ends with the number of its chunks, and has an echo on port 7. */
beforeEach(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  answer = ({ path }, response) =>
    void response.writeHead(200, { "content-type": "text/plain" }).end(`log of ${path}\n`);
  kubelet = await startAggregatedServer({
    clientCa: authority.certificate,
    names: ["127.0.0.1"],
    answer: (request, response) => answer(request, response),
    upgrade({ path, headers, by }, socket, head) {
      if (by === "") {
        socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 12\r\nconnection: close\r\n\r\nUnauthorized");
        return;
      }
      const protocol = String(headers["x-stream-protocol-version"]);
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${protocol}\r\n\r\n`,
      );
      if (path.startsWith("/portForward/")) {
        servePortForward(socket, head, async (port, { input, output }) => {
          if (port !== 7) throw new Error(`nothing listens on port ${port}`);
          for await (const chunk of input) await output(chunk);
        });
        return;
      }
      const has = (name: string): boolean => new URL(path, "https://kubelet").searchParams.get(name) === "1";
      serveSpdyCommand(socket, head, systemClock, {
        stdin: has("input"),
        stdout: has("output"),
        stderr: has("error"),
        async run(streams) {
          let chunks = 0;
          streams.onResize(({ width }) => void streams.stdout(Buffer.from(`width ${width};`)));
          for await (const chunk of streams.stdin) {
            chunks++;
            await streams.stdout(Buffer.from(Buffer.from(chunk).toString().toUpperCase()));
          }
          if (has("error")) await streams.stderr(Buffer.from("done"));
          return { exitCode: chunks };
        },
      });
    },
  });
  onTestFinished(() => kubelet.close());
});

const node = (): JsonObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node1" },
  status: {
    addresses: [
      { type: "Hostname", address: "node1.invalid" },
      { type: "InternalIP", address: "127.0.0.1" },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  },
});
const pod: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { nodeName: "node1", containers: [{ name: "c", image: "web", ports: [{ containerPort: 80 }] }] },
};
const target = { cluster: "paris", namespace: "default", pod, container: "c" };

function identityOf(commonName: string): { cert: string; key: string } {
  const { certificate: cert, key } = authority.issueClusterClient(
    { commonName, organizations: [] },
    { cluster: commonName, lifetimeMs: 3_600_000 },
  );
  return { cert, key };
}

const runtime = (identity = identityOf("server")) =>
  createKubeletRuntime({
    dial: createDial(systemClock),
    cluster: "paris",
    nodeOf: () => node(),
    identity,
    ca: Buffer.from(kubelet.caBundle, "base64").toString(),
  });

async function* chunksOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** The streams of a client, and what it got. */
function client(...input: string[]): { streams: ContainerStreams; got: { stdout: string; stderr: string } } {
  const got = { stdout: "", stderr: "" };
  const keep = (name: "stdout" | "stderr") => async (chunk: Uint8Array) => {
    got[name] += Buffer.from(chunk).toString();
  };
  return {
    got,
    streams: { stdin: chunksOf(...input), stdout: keep("stdout"), stderr: keep("stderr"), onResize: () => {} },
  };
}

describe("a command", () => {
  const all = { command: ["upper", "a b"], stdin: true, stdout: true, stderr: true, tty: false };

  test("has the streams of the kubelet, and its exit code", async () => {
    const { streams, got } = client("x".repeat(100_000));

    const { exitCode } = (await runtime().exec?.(target, all, streams, never)) ?? {};

    expect(got.stdout).toBe("X".repeat(100_000));
    expect(got.stderr).toBe("done");
    expect(exitCode).toBeGreaterThan(0);
    expect(kubelet.asked.map(({ method, path, by }) => ({ method, path, by }))).toEqual([
      { method: "POST", path: "/exec/default/web/c?command=upper&command=a+b&input=1&output=1&error=1", by: "server" },
    ]);
  });

  test("without input ends with success", async () => {
    const { streams } = client();

    expect(await runtime().exec?.(target, { ...all, stdin: false }, streams, never)).toEqual({ exitCode: 0 });
  });

  test("on a terminal has its size, and no stream of errors", async () => {
    const { streams, got } = client("a");
    streams.onResize = (listener) => listener({ width: 80, height: 24 });

    await runtime().attach?.(target, { stdin: true, stdout: true, stderr: true, tty: true }, streams, never);

    expect(got).toEqual({ stdout: expect.stringContaining("A") as string, stderr: "" });
    expect(kubelet.asked[0]?.path).toBe("/attach/default/web/c?input=1&output=1&tty=1");
  });

  test("that the kubelet rejects fails with its reason", async () => {
    const otherAuthority = await createCertificateAuthority({ clock: systemClock });
    const { certificate: cert, key } = await otherAuthority.issueClient({ commonName: "server", organizations: [] });

    await expect(runtime({ cert, key }).exec?.(target, all, client().streams, never)).rejects.toThrow(
      "Internal error occurred: unable to upgrade connection: Unauthorized",
    );
  });

  test("ends with the client", async () => {
    const leave = new AbortController();
    const waiting = new Promise<void>(() => {});
    const endless = (async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("a");
      await waiting;
    })();
    const { streams, got } = client();
    const ended = runtime().exec?.(target, all, { ...streams, stdin: endless }, leave.signal);

    await expect.poll(() => got.stdout).toBe("A");
    leave.abort(new Error("the client closed the connection"));

    await expect(ended).rejects.toThrow("the kubelet closed the connection before the command ended");
  });
});

describe("a port", () => {
  test("is connected through the kubelet", async () => {
    let got = "";
    const output = async (chunk: Uint8Array): Promise<void> => void (got += Buffer.from(chunk).toString());

    await runtime().forward?.(target, 7, { input: chunksOf("ping ", "pong"), output }, never);

    expect([got, kubelet.asked[0]?.path]).toEqual(["ping pong", "/portForward/default/web"]);
  });

  test("on which nothing listens is an error", async () => {
    const forwarded = runtime().forward?.(target, 8, { input: chunksOf(), output: async () => {} }, never);

    await expect(forwarded).rejects.toThrow("nothing listens on port 8");
  });
});

describe("through the API", () => {
  async function request(method: string, path: string, body?: unknown, options: { exposed?: boolean } = {}) {
    const kinds = new Set(["Pod", "Node", "Service", "EndpointSlice"]);
    const builtIns = [...PROFILE.builtIns.filter(({ kind }) => !kinds.has(kind)), Pod, Node, Service, EndpointSlice];
    const subject = await createTestServer({
      profiles: { empty: { ...PROFILE, builtIns } },
      clusters: { paris: "empty" },
      admissions: [],
      frontProxy: identityOf,
      isExposed: options.exposed,
    });
    onTestFinished(() => subject.server.close());
    const at = (rest: string): string => `/clusters/paris${rest}`;
    await subject.request("POST", at("/api/v1/nodes"), node());
    await subject.request("PUT", at("/api/v1/nodes/node1/status"), node());
    await subject.request("POST", at("/api/v1/namespaces/default/pods"), pod);
    const { response } = await subject.request(method, at(path), body, { authorization: "Bearer secret" });
    let text = "";
    for await (const chunk of bodyOf(response.body, never)) text += Buffer.from(chunk).toString();
    return { status: response.status, text };
  }

  test("a log is that of the kubelet, which knows the server by a name of the cluster", async () => {
    const { status, text } = await request("GET", `${POD_PATH}/log?tailLines=3&timestamps=true&previous=false`);

    expect([status, text]).toEqual([200, "log of /containerLogs/default/web/c?timestamps=true&tailLines=3\n"]);
    expect(kubelet.asked[0]?.by).toMatch(/^flotilla-kubelet-client:paris\.\d+$/);
  });

  test("a log that the kubelet does not have is an error with its text", async () => {
    answer = (_request, response) => void response.writeHead(400).end('container "c" in pod "web" is waiting to start');

    const { status, text } = await request("GET", `${POD_PATH}/log`);

    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ message: 'container "c" in pod "web" is waiting to start' });
  });

  test("a request to a node is passed to its kubelet, without credentials", async () => {
    answer = ({ method, path, body }, response) => void response.writeHead(201).end(`${method} ${path} ${body}`);

    const { status, text } = await request("POST", "/api/v1/nodes/node1/proxy/run%20a/b?x=1", { a: 1 });

    expect([status, text]).toEqual([201, 'POST /run%20a/b?x=1 {"a":1}']);
    expect(kubelet.asked[0]?.headers.authorization).toBeUndefined();
  });

  test("a kubelet whose certificate cannot be verified is not called for clients of other machines", async () => {
    const { status, text } = await request("GET", `${POD_PATH}/log`, undefined, { exposed: true });

    expect(status).toBe(500);
    expect(text).toContain("start it with --kubelet-certificate-authority");
    expect(kubelet.asked).toEqual([]);
  });

  test("another port of a node is not called", async () => {
    const { status, text } = await request("GET", "/api/v1/nodes/node1:22/proxy/");

    expect(status).toBe(503);
    expect(text).toContain("and no other one is called");
    expect(kubelet.asked).toEqual([]);
  });
});
