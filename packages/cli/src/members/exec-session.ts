/**
 * Runs a command in a container over one WebSocket (`v5.channel.k8s.io`, or `v4` on older servers): the first byte of a
 * message is its stream, and the last message is a Status with the command's result.
 */
import { FlotillaError, isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { HubConnection } from "../command.ts";
import { failureOf, withTimeout, readText } from "./ask.ts";
import type { Asking } from "./ask.ts";
import type { FoundPod } from "./pods.ts";
import { collectionPath } from "./read-objects.ts";
import type { Terminal, TerminalSize } from "../terminal.ts";
import { createHandshake, createWebSocketClient } from "./web-socket.ts";
import type { WebSocketClient } from "./web-socket.ts";

const CAN_CLOSE = "v5.channel.k8s.io";
const PROTOCOLS = [CAN_CLOSE, "v4.channel.k8s.io"];
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface ExecRequest {
  pod: FoundPod;
  container: string;
  command: readonly string[];
  stdin: boolean;
  tty: boolean;
}

/** Resolves with the exit code of the command. */
export async function execute(
  upgrade: HubConnection["upgrade"],
  request: ExecRequest,
  terminal: Terminal,
  { clock, responseTimeoutMs, signal }: Omit<Asking, "client">,
): Promise<number> {
  const { pod } = request;
  const handshake = createHandshake(PROTOCOLS);
  const answer = await withTimeout(clock, responseTimeoutMs, signal, (until) =>
    upgrade({ method: "GET", path: execPath(request), headers: handshake.headers }, until),
  );
  if (!answer.upgraded) throw failureOf(answer.status, await readText(answer.body));
  if (!handshake.isAnsweredBy(answer.headers)) {
    answer.upgraded.socket.destroy();
    throw new FlotillaError(
      "WebSocket",
      `running a command in pod ${pod.name} on ${pod.place.name}: the response is not a WebSocket; a proxy between here and the hub may not support them`,
    );
  }
  const web = await createWebSocketClient(answer.upgraded.socket, answer.upgraded.head);
  return runSession(
    web,
    { ...request, canClose: answer.headers["sec-websocket-protocol"] === CAN_CLOSE },
    terminal,
    signal,
  );
}

function execPath(request: ExecRequest): string {
  const {
    pod: { place, namespace, name },
    container,
    command,
    stdin,
    tty,
  } = request;
  const query = new URLSearchParams(command.map((word): [string, string] => ["command", word]));
  query.set("container", container);
  if (stdin) query.set("stdin", "true");
  query.set("stdout", "true");
  // A terminal has a single output stream.
  if (tty) query.set("tty", "true");
  else query.set("stderr", "true");
  return `${place.prefix}${collectionPath({ group: "", version: "v1", plural: "pods", scope: "Namespaced" }, namespace, name)}/exec?${query.toString()}`;
}

export async function runSession(
  web: WebSocketClient,
  { pod, stdin, tty, canClose }: Pick<ExecRequest, "pod" | "stdin" | "tty"> & { canClose: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const ended = new AbortController();
  const stop = (): void => web.close();
  signal.addEventListener("abort", stop, { once: true });
  const resize = (size: TerminalSize): void =>
    void web.send(message(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: size.width, Height: size.height }))));
  const restore: (() => void)[] = [];
  try {
    if (tty) {
      restore.push(terminal.onResize(resize));
      const size = terminal.size();
      if (size) resize(size);
    }
    if (tty && stdin) restore.push(terminal.passKeys());
    // Ends with the command; an error while reading our input ends the command.
    const sending = stdin
      ? sendInput(web, terminal, canClose, AbortSignal.any([signal, ended.signal])).catch(() => web.close())
      : undefined;
    const code = await receive(web, terminal);
    ended.abort();
    await sending;
    signal.throwIfAborted();
    if (code === undefined)
      throw new FlotillaError(
        "Unreachable",
        `the connection to pod ${pod.name} on ${pod.place.name} was lost before the command ended`,
      );
    return code;
  } finally {
    ended.abort();
    signal.removeEventListener("abort", stop);
    for (const undo of restore) undo();
    web.close();
  }
}

async function sendInput(
  web: WebSocketClient,
  terminal: Terminal,
  canClose: boolean,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of terminal.input(signal)) await web.send(message(CHANNEL.stdin, chunk));
  if (canClose && !signal.aborted) await web.send(Buffer.from([CHANNEL.close, CHANNEL.stdin]));
}

/** The exit code; undefined when the connection closed without one. */
async function receive(web: WebSocketClient, terminal: Terminal): Promise<number | undefined> {
  for await (const data of web.messages()) {
    const content = data.subarray(1);
    if (data[0] === CHANNEL.stdout && content.length > 0) await terminal.write(content);
    else if (data[0] === CHANNEL.stderr && content.length > 0) await terminal.writeError(content);
    // Servers send nothing on this channel until the end, but may begin with an empty message.
    else if (data[0] === CHANNEL.error && content.length > 0) return exitCodeOf(content.toString());
  }
  return undefined;
}

/** Throws the error that kept the command from running. */
export function exitCodeOf(text: string): number {
  const status = JSON.parse(text) as Json;
  if (!isObject(status))
    throw new FlotillaError("WebSocket", `the server's result of the command is not a Status: ${text.slice(0, 200)}`);
  if (status["status"] === "Success") return 0;
  const details =
    isObject(status["details"]) && Array.isArray(status["details"]["causes"])
      ? status["details"]["causes"].filter(isObject)
      : [];
  const code = Number(details.find(({ reason }) => reason === "ExitCode")?.["message"] ?? Number.NaN);
  if (status["reason"] === "NonZeroExitCode" && Number.isInteger(code)) return code;
  throw failureOf(typeof status["code"] === "number" ? status["code"] : 500, text);
}

function message(channel: number, content: Uint8Array): Buffer {
  const data = Buffer.allocUnsafe(content.byteLength + 1);
  data[0] = channel;
  data.set(content, 1);
  return data;
}
