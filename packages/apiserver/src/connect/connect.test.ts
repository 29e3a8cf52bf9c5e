import { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { ClusterRole, ClusterRoleBinding, Node, Pod, Service } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import type { ApiResponse, ByteStream } from "../request/request.ts";
import { ADMIN, PROFILE, createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import type { ContainerRuntime, ContainerTarget, LogLine } from "./backend.ts";

const PODS = "/api/v1/namespaces/default/pods";
const START_MS = Date.parse("2026-01-01T00:00:00Z");

/** Stores pods directly on a cluster with one node; admission would require more fields than these tests need. */
async function createServer(runtime?: ContainerRuntime): Promise<TestServer> {
  const builtIns = [
    ...PROFILE.builtIns.filter(({ kind }) => kind !== "Pod" && kind !== "Node" && kind !== "Service"),
    Pod,
    Node,
    Service,
    ClusterRole,
    ClusterRoleBinding,
  ];
  const test = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns } },
    admissions: [],
    connect: runtime ? { runtimeOf: () => runtime } : undefined,
  });
  const put = (path: string, object: JsonObject): Promise<unknown> => test.request("POST", path, object);
  const pod = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec,
  });
  await put("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node1" } });
  await put(PODS, pod("waits", { containers: [{ name: "c" }] }));
  await put(PODS, pod("lost", { nodeName: "gone", containers: [{ name: "c" }] }));
  await put(PODS, pod("runs", { nodeName: "node1", containers: [{ name: "c" }] }));
  await put(
    PODS,
    pod("two", { nodeName: "node1", initContainers: [{ name: "i" }], containers: [{ name: "c" }, { name: "d" }] }),
  );
  await put("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { ports: [{ port: 80 }] },
  });
  return test;
}

describe("without a container runtime", () => {
  const cases: Record<string, { path: string; method?: string; status: number; message?: string }> = {
    "the log of a missing pod is not found": {
      path: `${PODS}/none/log`,
      status: 404,
      message: 'pods "none" not found',
    },
    "the log of an unscheduled pod is empty": { path: `${PODS}/waits/log`, status: 204 },
    "the log of a pod on a missing node is not found": {
      path: `${PODS}/lost/log`,
      status: 404,
      message: 'pods "gone" not found',
    },
    "the log of a pod on an unreachable node is an error": {
      path: `${PODS}/runs/log`,
      status: 500,
      message:
        "Internal error occurred: error dialing backend: the kubelet of node node1 cannot be reached: its status has no address",
    },
    "a log request must name one of several containers": {
      path: `${PODS}/two/log`,
      status: 400,
      message: "a container name must be specified for pod two, choose one of: [i c d]",
    },
    "a log request must name a container of the pod": {
      path: `${PODS}/waits/log?container=q`,
      status: 400,
      message: "container q is not valid for pod waits",
    },
    "a negative tailLines is invalid": {
      path: `${PODS}/waits/log?tailLines=-1`,
      status: 422,
      message: 'PodLogOptions "waits" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    },
    "sinceSeconds and sinceTime exclude each other": {
      path: `${PODS}/waits/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z`,
      status: 422,
      message:
        'PodLogOptions "waits" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    },
    "a tailLines that is not a number is rejected": {
      path: `${PODS}/waits/log?tailLines=x`,
      status: 400,
      message: 'strconv.ParseInt: parsing "x": invalid syntax',
    },
    "POST to a log is not allowed": {
      path: `${PODS}/waits/log`,
      method: "POST",
      status: 405,
      message: "the server does not allow this method on the requested resource",
    },
    "exec needs a scheduled pod": {
      path: `${PODS}/waits/exec?command=ls`,
      status: 400,
      message: "pod waits does not have a host assigned",
    },
    "exec needs an upgrade request": {
      path: `${PODS}/runs/exec?command=ls`,
      status: 400,
      message: "Upgrade request required",
    },
    "a proxied service has no endpoints": {
      path: "/api/v1/namespaces/default/services/web:80/proxy/x",
      status: 503,
      message: 'no endpoints available for service "web"',
    },
    "a proxied pod without an address is rejected": {
      path: `${PODS}/runs/proxy/x`,
      method: "DELETE",
      status: 400,
      message: "address not allowed",
    },
    "a proxied node is unreachable": {
      path: "/api/v1/nodes/node1/proxy/healthz",
      status: 503,
      message: "error trying to reach service: the kubelet of node node1 cannot be reached: its status has no address",
    },
    "a proxy target has at most a scheme, a name and a port": {
      path: `${PODS}/ftp:runs:80/proxy/`,
      status: 400,
      message: 'invalid pod request "ftp:runs:80"',
    },
  };
  for (const [behaviour, { path, method = "GET", status, message }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { request } = await createServer();

      const answer = await request(method, path);

      expect([answer.status, answer.body.message]).toEqual([status, message]);
    });
  }
});

describe("a log", () => {
  const lines: LogLine[] = ["one", "two", "three"].map((text, index) => ({ text, timeMs: START_MS + index * 1000 }));
  const asked: ContainerTarget[] = [];
  const runtime: ContainerRuntime = {
    logs(target) {
      asked.push(target);
      return {
        lines,
        async *follow() {
          yield { text: "four", timeMs: START_MS + 3000 };
        },
      };
    },
  };
  const cases: Record<string, { query: string; want: string }> = {
    "returns the lines written so far": { query: "", want: "one\ntwo\nthree\n" },
    "is limited to the last lines by tailLines": { query: "tailLines=1", want: "three\n" },
    "is empty with tailLines=0": { query: "tailLines=0", want: "" },
    "starts at sinceTime": { query: "sinceTime=2026-01-01T00:00:01Z", want: "two\nthree\n" },
    "has timestamps on request": { query: "tailLines=1&timestamps=true", want: "2026-01-01T00:00:02.000Z three\n" },
    "is cut at limitBytes, even within a line": { query: "limitBytes=6", want: "one\ntw" },
    "continues while it is followed": { query: "tailLines=1&follow=true", want: "three\nfour\n" },
  };
  for (const [behaviour, { query, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { request } = await createServer(runtime);

      const { status, headers, response } = await request("GET", `${PODS}/two/log?container=d&${query}`);

      expect([status, headers["content-type"]]).toEqual([200, "text/plain"]);
      expect(await readAll(response.body as ByteStream)).toBe(want);
      expect(asked.at(-1)).toMatchObject({
        cluster: "hub",
        namespace: "default",
        container: "d",
        pod: { metadata: { name: "two" } },
      });
    });
  }
});

describe("a command", () => {
  const HANDSHAKE = {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "v5.channel.k8s.io, v4.channel.k8s.io",
  };
  /** Echoes its input in capitals until the client closes it; exits with the number of chunks. */
  const uppercaseEcho: ContainerRuntime = {
    async exec(_target, { command }, streams) {
      streams.onResize(({ width }) => void streams.stdout(Buffer.from(`width ${width};`)));
      await streams.stdout(Buffer.from(`${command.join(" ")}:`));
      let chunks = 0;
      for await (const chunk of streams.stdin) {
        chunks++;
        await streams.stdout(Buffer.from(chunk.toString().toUpperCase()));
      }
      await streams.stderr(Buffer.from("done"));
      return { exitCode: chunks };
    },
  };

  async function exec(
    query: string,
    headers: Record<string, string> = HANDSHAKE,
    runtime = uppercaseEcho,
  ): Promise<ApiResponse> {
    const { server } = await createServer(runtime);
    return server.handle({
      method: "GET",
      path: `${PODS}/runs/exec`,
      query: new URLSearchParams(query),
      headers,
      body: new Uint8Array(),
      user: ADMIN,
      signal: new AbortController().signal,
      canUpgrade: true,
    });
  }

  test("has its streams in channels and ends with its exit code", async () => {
    const response = await exec("command=echo&command=hi&stdin=true&stdout=true&stderr=true");
    const socket = new PeerSocket();

    response.upgrade?.(socket, Buffer.alloc(0));
    socket.say(4, '{"Width":80,"Height":24}');
    socket.say(0, "abc");
    await socket.until(({ length }) => length >= 4);
    socket.sayBytes(Buffer.from([255, 0]));
    const messages = await socket.until((all) => all.some(([channel]) => channel === 3));

    expect(response.headers).toMatchObject({
      "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
      "sec-websocket-protocol": "v5.channel.k8s.io",
    });
    expect(messages).toEqual([
      [1, ""],
      [1, "echo hi:"],
      [1, "width 80;"],
      [1, "ABC"],
      [2, "done"],
      [
        3,
        JSON.stringify({
          metadata: {},
          status: "Failure",
          message: "command terminated with non-zero exit code: exit status 1",
          reason: "NonZeroExitCode",
          details: { causes: [{ reason: "ExitCode", message: "1" }] },
        }),
      ],
    ]);
  });

  test("ends with success when the client disconnects at once", async () => {
    const response = await exec("command=true&stdin=true&stdout=true");
    const socket = new PeerSocket();

    response.upgrade?.(socket, Buffer.alloc(0));
    socket.sayBytes(Buffer.from([255, 0]));
    const messages = await socket.until((all) => all.some(([channel]) => channel === 3));

    expect(messages.at(-1)).toEqual([3, '{"metadata":{},"status":"Success"}']);
    expect(messages.some(([channel]) => channel === 2)).toBe(false);
  });

  test("a command that is rejected ends with the reason", async () => {
    const response = await exec("command=true&stdout=true", HANDSHAKE, {
      exec: () => Promise.reject(badRequest("nothing runs here")),
    });
    const socket = new PeerSocket();

    response.upgrade?.(socket, Buffer.alloc(0));
    const messages = await socket.until((all) => all.some(([channel]) => channel === 3));

    expect(JSON.parse(messages.at(-1)?.[1] ?? "")).toMatchObject({
      status: "Failure",
      message: "nothing runs here",
      reason: "BadRequest",
      code: 400,
    });
  });

  test("a command without stdin reads end of input", async () => {
    const response = await exec("command=true&stdout=true");
    const socket = new PeerSocket();

    response.upgrade?.(socket, Buffer.alloc(0));
    socket.say(0, "unread input");
    const messages = await socket.until((all) => all.some(([channel]) => channel === 3));

    expect(messages).toEqual([
      [1, ""],
      [1, "true:"],
      [3, '{"metadata":{},"status":"Success"}'],
    ]);
  });

  const refused: Record<string, { headers: Record<string, string>; status: number }> = {
    "rejects an unknown upgrade": { headers: { ...HANDSHAKE, upgrade: "SPDY/2" }, status: 501 },
    "rejects SPDY without a known protocol of its streams": {
      headers: { ...HANDSHAKE, upgrade: "SPDY/3.1", "x-stream-protocol-version": "v1.channel.k8s.io" },
      status: 400,
    },
    "rejects an unknown protocol": {
      headers: { ...HANDSHAKE, "sec-websocket-protocol": "chat" },
      status: 400,
    },
    "rejects another WebSocket version": {
      headers: { ...HANDSHAKE, "sec-websocket-version": "8" },
      status: 400,
    },
  };
  for (const [behaviour, { headers, status }] of Object.entries(refused)) {
    test(behaviour, async () => {
      const response = await exec("command=ls", headers);

      expect([response.status, response.upgrade]).toEqual([status, undefined]);
    });
  }
});

describe("a user with the verbs", () => {
  const roles = "/apis/rbac.authorization.k8s.io/v1";
  const cases: Record<string, { verbs: string[]; method: string; path: string; want: [number, string | undefined] }> = {
    "get and list cannot exec": {
      verbs: ["get", "list"],
      method: "GET",
      path: "waits/exec?command=ls",
      want: [403, 'pods "waits" is forbidden: '],
    },
    "get and list cannot attach": {
      verbs: ["get", "list"],
      method: "GET",
      path: "waits/attach",
      want: [403, 'pods "waits" is forbidden: '],
    },
    "get and list cannot forward ports": {
      verbs: ["get", "list"],
      method: "GET",
      path: "waits/portforward",
      want: [403, 'pods "waits" is forbidden: '],
    },
    "get and list cannot find out whether a pod exists": {
      verbs: ["get", "list"],
      method: "GET",
      path: "none/exec?command=ls",
      want: [403, 'pods "none" is forbidden: '],
    },
    "get and list can read logs": {
      verbs: ["get", "list"],
      method: "GET",
      path: "waits/log",
      want: [204, undefined],
    },
    "get and create can exec": {
      verbs: ["get", "create"],
      method: "GET",
      path: "waits/exec?command=ls",
      want: [400, "pod waits does not have a host assigned"],
    },
    "create alone can exec over SPDY": {
      verbs: ["create"],
      method: "POST",
      path: "waits/exec?command=ls",
      want: [400, "pod waits does not have a host assigned"],
    },
  };
  for (const [behaviour, { verbs, method, path, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { request, server, settle } = await createServer();
      await request("POST", `${roles}/clusterroles`, {
        metadata: { name: "r" },
        rules: [{ apiGroups: ["*"], resources: ["*"], verbs }],
      });
      await request("POST", `${roles}/clusterrolebindings`, {
        metadata: { name: "r" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "eve" }],
      });
      await settle();
      const [pathname = "", search] = path.split("?");

      const response = await server.handle({
        method,
        path: `${PODS}/${pathname}`,
        query: new URLSearchParams(search),
        headers: {},
        body: new Uint8Array(),
        user: { name: "eve", groups: ["system:authenticated"] },
        signal: new AbortController().signal,
      });

      const text = Buffer.from(response.body as Uint8Array).toString();
      expect([response.status, text === "" ? undefined : (JSON.parse(text) as JsonObject).message]).toEqual(want);
    });
  }
});

test("a proxy strips the client's credentials", async () => {
  const { request } = await createServer({
    proxy: async (_target, { headers }) => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(headers)) }),
  });

  const { body } = await request("GET", `${PODS}/runs/proxy/`, undefined, {
    authorization: "Bearer s3cret",
    "impersonate-user": "eve",
    "impersonate-group": "system:masters",
    accept: "text/html",
  });

  expect(body).toEqual({ "user-agent": "test/1", accept: "text/html" });
});

test("a proxy forwards method, path, query and body", async () => {
  const { request } = await createServer({
    proxy: async (target, { method, path, query, body }) => ({
      status: 202,
      headers: { "content-type": "text/plain" },
      body: Buffer.from(
        `${target.scheme} ${target.name} ${target.port} ${method} ${path} ${query.toString()} ${Buffer.from(body).toString()}`,
      ),
    }),
  });

  const { status, text } = await request("PUT", `${PODS}/https:runs:8080/proxy/a/b?c=d`, "body");

  expect([status, text]).toEqual([202, "https runs 8080 PUT /a/b c=d body"]);
});

async function readAll(stream: ByteStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    stream.open({
      write(chunk) {
        chunks.push(chunk);
        return true;
      },
      onDrain: () => {},
      end: resolve,
    });
  });
  return Buffer.concat(chunks).toString();
}

/** The client's end of an upgraded connection. */
class PeerSocket extends Duplex {
  readonly #messages: [number, string][] = [];
  #bytes = Buffer.alloc(0);
  #check = (): void => {};

  override _read(): void {
    // The client's data is pushed.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.byteLength >= 2) {
      const short = (this.#bytes[1] ?? 0) & 127;
      const start = short === 126 ? 4 : 2;
      if (this.#bytes.byteLength < start) break;
      const length = short === 126 ? this.#bytes.readUInt16BE(2) : short;
      if (this.#bytes.byteLength < start + length) break;
      const data = this.#bytes.subarray(start, start + length);
      if (((this.#bytes[0] ?? 0) & 15) === 2) this.#messages.push([data[0] ?? -1, data.subarray(1).toString()]);
      this.#bytes = this.#bytes.subarray(start + length);
    }
    this.#check();
    done();
  }

  say(channel: number, text: string): void {
    this.sayBytes(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
  }

  sayBytes(data: Buffer): void {
    this.push(Buffer.concat([Buffer.from([0x82, 0x80 | data.byteLength, 0, 0, 0, 0]), data]));
  }

  until(enough: (messages: readonly [number, string][]) => boolean): Promise<[number, string][]> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (enough(this.#messages)) resolve(this.#messages);
      };
      this.#check();
    });
  }
}
