/**
 * The container runtime of a cluster whose nodes run elsewhere: real kubelets, virtual ones, KWOK. The server calls the
 * kubelet of a pod's node as kube-apiserver does (docs/adr/0098).
 *
 * Commands and port forwarding reach the kubelet over SPDY/3.1, which all of them support. What a client uses is
 * translated: SPDY, the channels of a WebSocket, or SPDY in a WebSocket.
 *
 * A kubelet learns that the server calls from a client certificate with a name that is valid for its cluster alone
 * (`kubeletClientName`). It does not learn which user asks: the server has checked that.
 */
import type { ConnectResponse } from "@flotilla/apimachinery";
import { ApiError, badRequest, internalError, unavailable } from "@flotilla/apimachinery";
import { FlotillaError, isObject, messageOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { joinSockets, UnreachableError } from "@flotilla/client";
import type { BlockedSet, UpgradeRequest, UpgradeResponse } from "@flotilla/client";
import { textOf } from "../codec/text.ts";
import type {
  ContainerRuntime,
  ContainerStreams,
  ContainerTarget,
  ExecOptions,
  LogOptions,
  ProxyRequest,
} from "./backend.ts";
import { nodeNameOf } from "./container.ts";
import type { ClientIdentity, Dial, DialTarget } from "./dial.ts";
import { InputQueue } from "./input-queue.ts";
import { kubeletAddress } from "./node-address.ts";
import { passedOn, sentHeaders } from "./proxied-headers.ts";
import { socketTransport } from "./spdy-command.ts";
import { SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-connection.ts";

/** The name of the server in its certificate for the kubelets of a cluster, which have it checked by that cluster's roles. */
export const kubeletClientName = (clusterId: string): string => `flotilla-kubelet-client:${clusterId}`;

export interface KubeletDependencies {
  dial: Dial;
  cluster: string;
  nodeOf(name: string): DeepReadonly<JsonObject> | undefined;
  identity?: ClientIdentity | undefined;
  /** PEM: the authorities of kubelets' certificates. Unset: any certificate is accepted, as by kube-apiserver. */
  ca?: string | undefined;
  /** Why kubelets are not called. */
  problem?: string | undefined;
  blocked?: BlockedSet | undefined;
}

const PROTOCOL = "v4.channel.k8s.io";
const FORWARD_PROTOCOL = "portforward.k8s.io";
const MAX_WAITING_BYTES = 1024 * 1024;
/** The status of a command, or the reason why something failed. */
const MAX_TEXT_BYTES = 64 * 1024;
/** How much of a response that is an error is shown, as in Kubernetes. */
const MAX_ERROR_BYTES = 10 * 1024;

export function createKubeletRuntime(deps: KubeletDependencies): ContainerRuntime {
  const { dial, cluster, nodeOf, identity, ca, problem, blocked } = deps;

  const kubeletOf = (node: string): DialTarget => {
    const address = kubeletAddress(nodeOf(node) ?? {});
    if (!address) throw new UnreachableError("its status has no address");
    if (problem !== undefined) throw new UnreachableError(problem);
    return { ...address, cluster, identity, ca, blocked };
  };
  /** A request to the kubelet of a pod. */
  const ask = async (
    pod: DeepReadonly<JsonObject>,
    request: UpgradeRequest,
    signal: AbortSignal,
  ): Promise<UpgradeResponse> => {
    const node = nodeNameOf(pod);
    try {
      return await dial(kubeletOf(node), request, signal);
    } catch (error) {
      if (error instanceof ApiError || signal.aborted) throw error;
      throw internalError(`error dialing backend: ${unreachable(node)}: ${firstLine(error)}`);
    }
  };

  /** Opens an upgraded connection, and the streams of `open` on it. */
  async function connect(pod: DeepReadonly<JsonObject>, path: string, protocol: string, signal: AbortSignal) {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol };
    const response = await ask(pod, { method: "POST", path, headers }, signal);
    if (!response.upgraded) throw internalError(`unable to upgrade connection: ${await errorText(response)}`);
    const { socket, head } = response.upgraded;
    const connection = new SpdyConnection(socketTransport(socket), 0, () => {});
    const close = (): void => {
      signal.removeEventListener("abort", close);
      connection.close();
      socket.destroy();
    };
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    const receive = (chunk: Buffer): void => {
      // Bytes that are not SPDY end the connection.
      connection.receive(chunk).catch(close);
    };
    socket.on("data", receive);
    for (const event of ["end", "close", "error"]) socket.once(event, () => connection.end());
    if (head.length > 0) receive(head);
    const open = (headersOf: Record<string, string>): Promise<SpdyStream> =>
      connection.open(new Map(Object.entries(headersOf)));
    return { socket, open, close };
  }

  async function run(
    { namespace, pod, container }: ContainerTarget,
    verb: "exec" | "attach",
    options: Omit<ExecOptions, "command"> & { command?: readonly string[] },
    streams: ContainerStreams,
    signal: AbortSignal,
  ): Promise<{ exitCode: number }> {
    const query = new URLSearchParams((options.command ?? []).map((word): [string, string] => ["command", word]));
    const { stdin, stdout, tty } = options;
    const stderr = options.stderr && !tty;
    for (const [name, isWanted] of Object.entries({ input: stdin, output: stdout, error: stderr, tty }))
      if (isWanted) query.set(name, "1");
    const path = `/${verb}/${pathOf(namespace, nameOf(pod), container)}?${query.toString()}`;
    const { socket, open, close } = await connect(pod, path, PROTOCOL, signal);
    try {
      const result = textIn(await open({ streamtype: "error" }));
      const input = stdin ? await open({ streamtype: "stdin" }) : undefined;
      const outputs: Promise<void>[] = [];
      if (stdout) outputs.push(copy(await open({ streamtype: "stdout" }), socket, (chunk) => streams.stdout(chunk)));
      if (stderr) outputs.push(copy(await open({ streamtype: "stderr" }), socket, (chunk) => streams.stderr(chunk)));
      if (tty) {
        const sizes = await open({ streamtype: "resize" });
        streams.onResize(
          ({ width, height }) => void sizes.write(Buffer.from(JSON.stringify({ Width: width, Height: height }))),
        );
      }
      // The command may end before its input does.
      if (input) void send(streams.stdin, input);
      await Promise.all(outputs);
      return resultOf(await result);
    } finally {
      close();
    }
  }

  async function send(chunks: AsyncIterable<Uint8Array>, stream: SpdyStream): Promise<void> {
    for await (const chunk of chunks) await stream.write(chunk);
    await stream.end();
  }

  return {
    async logResponse({ namespace, pod, container }, options, signal): Promise<ConnectResponse> {
      const path = `/containerLogs/${pathOf(namespace, nameOf(pod), container)}${logQuery(options)}`;
      const response = await ask(pod, { method: "GET", path, headers: {} }, signal);
      if (response.status < 200 || response.status > 206) throw await responseError(response);
      return { status: 200, headers: { "content-type": "text/plain" }, body: response.body };
    },
    exec: (target, options, streams, signal) => run(target, "exec", options, streams, signal),
    attach: (target, options, streams, signal) => run(target, "attach", options, streams, signal),
    async forward({ namespace, pod }, port, { input, output }, signal) {
      const path = `/portForward/${pathOf(namespace, nameOf(pod))}`;
      const { socket, open, close } = await connect(pod, path, FORWARD_PROTOCOL, signal);
      try {
        const numbers = { port: String(port), requestid: "0" };
        const errors = await open({ streamtype: "error", ...numbers });
        const problem = textIn(errors);
        await errors.end();
        const data = await open({ streamtype: "data", ...numbers });
        void send(input, data);
        await copy(data, socket, output);
        const text = await problem;
        if (text !== "") throw new FlotillaError("Stream", text);
      } finally {
        close();
      }
    },
    async proxy({ resource, name, port }, request, signal) {
      if (resource !== "nodes") return undefined;
      try {
        const kubelet = kubeletOf(name);
        if (port !== "" && port !== String(kubelet.port))
          throw new UnreachableError(`its port is ${kubelet.port}, and no other one is called`);
        return passOn(await dial(kubelet, proxiedRequest(request), signal), request.upgrade);
      } catch (error) {
        if (error instanceof ApiError || signal.aborted) throw error;
        throw unavailable(`error trying to reach service: ${unreachable(name)}: ${firstLine(error)}`);
      }
    },
  };
}

function proxiedRequest({ method, path, query, headers, body, upgrade }: ProxyRequest): UpgradeRequest {
  const search = query.toString();
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(sentHeaders(headers))) if (value !== undefined) sent[name] = value;
  if (upgrade !== undefined) Object.assign(sent, { connection: "Upgrade", upgrade });
  return {
    method,
    path: search === "" ? path : `${path}?${search}`,
    headers: sent,
    body: body.byteLength > 0 ? body : undefined,
  };
}

function passOn({ status, headers, body, upgraded }: UpgradeResponse, protocol = ""): ConnectResponse {
  if (!upgraded) return { status, headers: passedOn(headers), body };
  return {
    status,
    headers: { ...passedOn(headers), connection: "Upgrade", upgrade: headers["upgrade"] ?? protocol },
    body: new Uint8Array(),
    upgrade: (socket, head) => joinSockets(socket, head, upgraded.socket, upgraded.head),
  };
}

export const unreachable = (node: string): string => `the kubelet of node ${node} cannot be reached`;
const firstLine = (error: unknown): string => messageOf(error).split("\n", 1)[0] ?? "";
const nameOf = (pod: DeepReadonly<JsonObject>): string =>
  textOf((pod as { metadata?: { name?: string } }).metadata?.name ?? "");
const pathOf = (...parts: string[]): string => parts.map(encodeURIComponent).join("/");

function logQuery({
  follow,
  previous,
  timestamps,
  sinceMs,
  tailLines,
  limitBytes,
}: Omit<LogOptions, "container">): string {
  const query = new URLSearchParams();
  for (const [name, isSet] of Object.entries({ follow, previous, timestamps })) if (isSet) query.set(name, "true");
  if (sinceMs !== undefined) query.set("sinceTime", new Date(sinceMs).toISOString());
  if (tailLines !== undefined) query.set("tailLines", String(tailLines));
  if (limitBytes !== undefined) query.set("limitBytes", String(limitBytes));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** Passes on what a stream brings, as fast as it is taken. Resolves at its end. */
async function copy(
  stream: SpdyStream,
  socket: { pause(): unknown; resume(): unknown },
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const queue = new InputQueue();
  queue.onTaken = (waiting) => {
    if (waiting <= MAX_WAITING_BYTES) socket.resume();
  };
  stream.onData((chunk) => {
    if (chunk === undefined) queue.end();
    // A copy: the chunk is a part of what the socket read.
    else if (queue.push(Buffer.from(chunk)) > MAX_WAITING_BYTES) socket.pause();
  });
  for await (const chunk of queue.chunks()) await write(chunk);
}

function textIn(stream: SpdyStream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) =>
    stream.onData((chunk) => {
      if (chunk === undefined) return resolve(Buffer.concat(chunks).toString());
      bytes += chunk.byteLength;
      if (bytes <= MAX_TEXT_BYTES) chunks.push(Buffer.from(chunk));
    }),
  );
}

/** A kubelet ends a command with a Status. */
function resultOf(text: string): { exitCode: number } {
  if (text === "") throw new FlotillaError("Stream", "the kubelet closed the connection before the command ended");
  const status = parsed(text);
  if (status?.["status"] === "Success") return { exitCode: 0 };
  const details = status?.["details"];
  const causes = isObject(details) && Array.isArray(details["causes"]) ? details["causes"].filter(isObject) : [];
  const code = Number(causes.find(({ reason }) => reason === "ExitCode")?.["message"]);
  if (status?.["reason"] === "NonZeroExitCode" && Number.isInteger(code)) return { exitCode: code };
  const message = status?.["message"];
  throw new FlotillaError("Stream", typeof message === "string" ? message : text);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function errorText({ body }: UpgradeResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString().trim();
}

/** As kube-apiserver reports the error of a kubelet that has no log. */
async function responseError(response: UpgradeResponse): Promise<ApiError> {
  const text = await errorText(response);
  if (response.status === 400) return badRequest(text);
  return internalError(response.status === 500 ? text : `the kubelet responded with ${response.status}: ${text}`);
}
