import { Duplex } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { acceptKey, loadWebSockets } from "./websocket.ts";

const createWebSocket = await loadWebSockets();

/** A socket whose other end is this test. */
class FakeSocket extends Duplex {
  readonly sent: Buffer[] = [];
  /** Whether written data waits for `release`. */
  hold = false;
  #waiting: (() => void)[] = [];
  override _read(): void {
    // The test pushes the client's data.
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.sent.push(chunk);
    if (this.hold) this.#waiting.push(done);
    else done();
  }
  release(): void {
    this.hold = false;
    for (const done of this.#waiting.splice(0)) done();
  }
  get bytes(): Buffer {
    return Buffer.concat(this.sent);
  }
}

/** A frame as clients send it: masked. */
function frame(opcode: number, data: Buffer, isFinal = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const head =
    data.byteLength < 126
      ? Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | data.byteLength])
      : Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | 126, data.byteLength >> 8, data.byteLength & 255]);
  return Buffer.concat([head, mask, data.map((byte, index) => byte ^ (mask[index & 3] ?? 0))]);
}

function open(head: Buffer = Buffer.alloc(0), side: "server" | "client" = "server") {
  const socket = new FakeSocket();
  const clock = createFakeClock();
  const messages: string[] = [];
  let closed = 0;
  const web = createWebSocket(socket, head, {
    side,
    maxMessageBytes: 1024 * 1024,
    closeGrace: { clock, ms: 2000 },
    message: (data) => messages.push(data.toString()),
    closed: () => closed++,
  });
  return { socket, clock, messages, web, closed: () => closed };
}
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a WebSocket", () => {
  test("computes the accept key as in RFC 6455", () => {
    expect(acceptKey("dGhlIHNhbXBsZSBub25jZQ==")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  });

  test("reads messages however the bytes are split", async () => {
    const { socket, messages } = open();
    const bytes = Buffer.concat([frame(2, Buffer.from("hello")), frame(2, Buffer.from("x".repeat(300)))]);

    for (const byte of bytes) socket.push(Buffer.from([byte]));
    await tick();

    expect(messages).toEqual(["hello", "x".repeat(300)]);
  });

  test("reads data that arrived with the handshake first", async () => {
    const { socket, messages } = open(frame(2, Buffer.from("early")));

    socket.push(frame(2, Buffer.from("late")));
    await tick();

    expect(messages).toEqual(["early", "late"]);
  });

  test("joins fragments, and answers a ping between them", async () => {
    const { socket, messages } = open();

    socket.push(
      Buffer.concat([frame(2, Buffer.from("he"), false), frame(9, Buffer.from("p")), frame(0, Buffer.from("llo"))]),
    );
    await tick();

    expect(messages).toEqual(["hello"]);
    expect(socket.bytes).toEqual(Buffer.from([0x8a, 1, 0x70]));
  });

  test("rejects a message with too many fragments, even empty ones", async () => {
    const { socket, messages, closed } = open();

    socket.push(
      Buffer.concat([
        frame(2, Buffer.alloc(0), false),
        ...Array.from({ length: 5000 }, () => frame(0, Buffer.alloc(0), false)),
      ]),
    );
    await tick();

    expect(messages).toEqual([]);
    expect(socket.bytes.subarray(2, 4).readUInt16BE()).toBe(1009);
    socket.push(null);
    await tick();
    expect(closed()).toBe(1);
  });

  test("writes long messages with extended lengths", () => {
    const { socket, web } = open();

    web.send(Buffer.alloc(70_000));

    expect(socket.bytes.subarray(0, 10)).toEqual(Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]));
  });

  test("answers a close frame with one close frame and reports it once", async () => {
    const { socket, closed } = open();

    socket.push(frame(8, Buffer.from([3, 0xe8])));
    socket.push(null);
    await tick();
    await tick();

    expect(socket.bytes).toEqual(Buffer.from([0x88, 2, 3, 0xe8]));
    expect(closed()).toBe(1);
  });

  test("disconnects a client that does not answer a close frame", () => {
    const { socket, clock, web } = open();
    web.close();

    clock.advance(1999);
    expect(socket.destroyed).toBe(false);
    clock.advance(1);

    expect(socket.destroyed).toBe(true);
  });

  test("signals a full connection, and when there is room again", async () => {
    const { socket, web } = open();
    socket.hold = true;

    expect(web.send(Buffer.alloc(1_000_000))).toBe(false);
    const drained = web.drained();
    socket.release();

    await drained;
    expect(web.send(Buffer.from("more"))).toBe(true);
  });

  test("delivers nothing while it is paused", async () => {
    const { socket, messages, web } = open();
    web.pause();

    socket.push(frame(2, Buffer.from("waits")));
    await tick();
    expect(messages).toEqual([]);
    web.resume();
    await tick();

    expect(messages).toEqual(["waits"]);
  });

  test("a client masks what it sends, and leaves the caller's bytes unchanged", () => {
    const { socket, web } = open(Buffer.alloc(0), "client");
    const data = Buffer.from("abc");

    web.send(data);

    const mask = socket.bytes.subarray(2, 6);
    expect(socket.bytes.subarray(0, 2)).toEqual(Buffer.from([0x82, 0x83]));
    expect(Buffer.from(socket.bytes.subarray(6).map((byte, index) => byte ^ (mask[index] ?? 0)))).toEqual(data);
    expect(data.toString()).toBe("abc");
  });

  const wrong: Record<string, { bytes: Buffer; code: number }> = {
    "a frame without a mask": { bytes: Buffer.from([0x82, 1, 65]), code: 1002 },
    "a frame with an extension": { bytes: Buffer.from([0xc2, 0x81, 0, 0, 0, 0, 65]), code: 1002 },
    "a continuation without a start": { bytes: frame(0, Buffer.from("a")), code: 1002 },
    "a long control frame": { bytes: frame(9, Buffer.alloc(200)), code: 1002 },
    "an unknown opcode": { bytes: frame(11, Buffer.alloc(0)), code: 1002 },
    "a message beyond the size limit": {
      bytes: Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
      code: 1009,
    },
  };
  for (const [what, { bytes, code }] of Object.entries(wrong)) {
    test(`closes on ${what}`, async () => {
      const { socket, messages } = open();

      socket.push(bytes);
      await tick();

      expect(socket.bytes[0]).toBe(0x88);
      expect(socket.bytes.readUInt16BE(2)).toBe(code);
      expect(messages).toEqual([]);
    });
  }

  test("survives arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
        const { socket, closed } = open();

        for (const chunk of chunks) socket.emit("data", Buffer.from(chunk));
        socket.emit("close");

        expect(closed()).toBe(1);
      }),
    );
  });

  test("returns every message whole", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 50 }),
        (messages, size) => {
          const { socket, messages: read } = open();
          const bytes = Buffer.concat(messages.map((message) => frame(2, Buffer.from(message))));

          for (let at = 0; at < bytes.byteLength; at += size) socket.emit("data", bytes.subarray(at, at + size));

          expect(read).toEqual(messages.map((message) => Buffer.from(message).toString()));
        },
      ),
    );
  });
});
