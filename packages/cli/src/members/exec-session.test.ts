import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { exitCodeOf, runSession } from "./exec-session.ts";
import type { FoundPod } from "./pods.ts";
import type { Terminal, TerminalSize } from "../terminal.ts";
import { createHandshake, createWebSocketClient } from "./web-socket.ts";

const POD: FoundPod = {
  place: { name: "member1", prefix: "", mode: "push" },
  namespace: "shop",
  name: "web-1",
  containers: ["web"],
  initContainers: [],
  defaultContainer: "web",
  isRunning: true,
};
const SUCCESS = JSON.stringify({ metadata: {}, status: "Success" });
const failed = (code: number): string =>
  JSON.stringify({
    status: "Failure",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  });

/** The server's end: what it receives on each channel, and what it sends. */
class Server extends Duplex {
  readonly heard: [number, string][] = [];
  /** A frame may arrive in several writes. */
  #received: Buffer = Buffer.alloc(0);
  override _read(): void {
    // The server's data is pushed by the test.
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = 6 + ((this.#received[1] ?? 0) & 0x7f);
      if (this.#received.length < end) break;
      const frame = this.#received.subarray(0, end);
      this.#received = this.#received.subarray(end);
      const data = frame.subarray(6).map((byte, index) => byte ^ (frame[2 + (index & 3)] ?? 0));
      if (((frame[0] ?? 0) & 0x0f) === 2) this.heard.push([data[0] ?? -1, Buffer.from(data.subarray(1)).toString()]);
    }
    done();
  }
  say(channel: number, text: string, opcode = 2): void {
    const data = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
    this.push(Buffer.concat([Buffer.from([0x80 | opcode, data.length]), data]));
  }
}

function terminalOf(input: string[] = [], size?: TerminalSize): { terminal: Terminal; said: string[] } {
  const said: string[] = [];
  const write = (from: string) => (chunk: Uint8Array | string) =>
    Promise.resolve(void said.push(`${from} ${Buffer.from(chunk as Uint8Array).toString()}`));
  return {
    said,
    terminal: {
      canAsk: false,
      isInteractive: size !== undefined,
      async *input() {
        for (const text of input) yield await Promise.resolve(Buffer.from(text));
      },
      write: write("out"),
      writeError: write("err"),
      passKeys() {
        said.push("keys");
        return () => void said.push("no keys");
      },
      size: () => size,
      onResize: () => () => void said.push("no resize"),
      edit: (text) => Promise.resolve(text),
      ask: () => Promise.resolve(undefined),
    },
  };
}

const run = async (
  server: Server,
  terminal: Terminal,
  options: { stdin?: boolean; tty?: boolean; canClose?: boolean } = {},
): Promise<number> =>
  runSession(
    await createWebSocketClient(server, Buffer.alloc(0)),
    { pod: POD, stdin: false, tty: false, canClose: true, ...options },
    terminal,
    new AbortController().signal,
  );

test("stdout and stderr are kept apart, and the exit code is the command's", async () => {
  const server = new Server();
  const { terminal, said } = terminalOf();
  server.say(1, "");
  server.say(1, "hello");
  server.say(2, "oh");
  server.say(3, failed(7));

  expect(await run(server, terminal)).toBe(7);

  expect(said).toEqual(["out hello", "err oh"]);
});

test("input is passed on, and its end is signalled where the protocol supports it", async () => {
  const server = new Server();
  const { terminal } = terminalOf(["a", "b"]);
  const ended = run(server, terminal, { stdin: true });
  while (server.heard.length < 3) await new Promise((resolve) => setImmediate(resolve));
  server.say(3, SUCCESS);

  expect(await ended).toBe(0);

  expect(server.heard).toEqual([
    [0, "a"],
    [0, "b"],
    [255, "\u0000"],
  ]);
});

test("a terminal sends its size, passes keys on, and is restored", async () => {
  const server = new Server();
  const { terminal, said } = terminalOf([], { width: 80, height: 24 });
  server.say(3, SUCCESS);

  await run(server, terminal, { stdin: true, tty: true });

  expect(server.heard[0]).toEqual([4, '{"Width":80,"Height":24}']);
  expect(said).toEqual(["keys", "no resize", "no keys"]);
});

test("a connection that closes before the command ends is a failure", async () => {
  const server = new Server();
  server.push(null);

  await expect(run(server, terminalOf().terminal)).rejects.toThrow(
    "the connection to pod web-1 on member1 was lost before the command ended",
  );
});

test("pings are answered, and fragments joined", async () => {
  const server = new Server();
  const web = await createWebSocketClient(server, Buffer.from([0x02, 2, 1, 97]));
  server.push(Buffer.from([0x89, 0]));
  server.push(Buffer.from([0x80, 1, 98]));
  server.push(Buffer.from([0x88, 0]));

  const messages: string[] = [];
  for await (const message of web.messages()) messages.push(message.toString());

  expect(messages).toEqual(["\u0001ab"]);
});

test("an oversized frame is rejected before it is read", async () => {
  const server = new Server();
  const web = await createWebSocketClient(server, Buffer.from([0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0]));

  await expect(web.messages().next()).rejects.toThrow("a message from the server is longer than");
});

test("a handshake with a wrong accept key is rejected", () => {
  expect(createHandshake(["v5.channel.k8s.io"]).isAnsweredBy({ "sec-websocket-accept": "x" })).toBe(false);
});

test("a command that could not run is reported with the member's message", () => {
  expect(() =>
    exitCodeOf(JSON.stringify({ status: "Failure", message: "container web does not run", code: 400 })),
  ).toThrow("container web does not run");
});
