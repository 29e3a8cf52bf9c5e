import { constants, createDeflate } from "node:zlib";
import { expect, test } from "vitest";
import { SpdyConnection } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-connection.ts";
import { controlFrame, dataFrame, FRAME, FrameReader, HeaderBlocks } from "./spdy-wire.ts";
import type { Frame } from "./spdy-wire.ts";

function start(maxStreams = 8): {
  connection: SpdyConnection;
  streams: SpdyStream[];
  sent(): Frame[];
  ended(): boolean;
} {
  const streams: SpdyStream[] = [];
  const written: Buffer[] = [];
  let ended = false;
  const connection = new SpdyConnection(
    {
      write: async (chunk) => void written.push(Buffer.from(chunk)),
      end: () => {
        ended = true;
      },
    },
    maxStreams,
    (stream) => streams.push(stream),
  );
  return {
    connection,
    streams,
    sent() {
      const reader = new FrameReader();
      reader.push(Buffer.concat(written));
      const frames: Frame[] = [];
      for (let frame = reader.next(); frame; frame = reader.next()) frames.push(frame);
      return frames;
    },
    ended: () => ended,
  };
}

async function openStream(headers: HeaderBlocks, id: number, type: string): Promise<Buffer> {
  const head = Buffer.alloc(10);
  head.writeUInt32BE(id, 0);
  return controlFrame(FRAME.synStream, 0, Buffer.concat([head, await headers.write(new Map([["streamtype", type]]))]));
}

test("streams are opened with their headers, in parts of any size", async () => {
  const { connection, streams, sent } = start();
  const headers = new HeaderBlocks();
  const bytes = Buffer.concat([await openStream(headers, 1, "error"), await openStream(headers, 3, "stdout")]);

  for (const byte of bytes) await connection.receive(Buffer.from([byte]));

  expect(streams.map((stream) => stream.headers.get("streamtype"))).toEqual(["error", "stdout"]);
  expect(sent().map((frame) => frame.type === "control" && frame.kind)).toEqual([FRAME.synReply, FRAME.synReply]);
});

test("data reaches its stream, and the end of the client's side", async () => {
  const { connection, streams } = start();
  const seen: (string | undefined)[] = [];
  await connection.receive(await openStream(new HeaderBlocks(), 1, "stdin"));
  streams[0]?.onData((chunk) => seen.push(chunk && Buffer.from(chunk).toString()));

  await connection.receive(Buffer.concat([dataFrame(1, Buffer.from("hello")), dataFrame(1, Buffer.from("!"), true)]));

  expect(seen).toEqual(["hello", "!", undefined]);
});

test("long output is cut into frames, and its end is marked", async () => {
  const { connection, streams, sent } = start();
  await connection.receive(await openStream(new HeaderBlocks(), 1, "stdout"));

  await streams[0]?.write(Buffer.alloc(100_000, "x"));
  await streams[0]?.end();

  const data = sent().filter((frame) => frame.type === "data");
  expect(data.reduce((sum, { content }) => sum + content.length, 0)).toBe(100_000);
  expect(data.at(-1)).toMatchObject({ stream: 1, isLast: true });
});

test("a ping is answered, and more streams than allowed are refused", async () => {
  const { connection, streams, sent } = start(1);
  const headers = new HeaderBlocks();
  await connection.receive(controlFrame(FRAME.ping, 0, Buffer.from([0, 0, 0, 7])));
  await connection.receive(await openStream(headers, 1, "error"));
  await connection.receive(await openStream(headers, 3, "stdout"));

  expect(streams).toHaveLength(1);
  expect(sent().map((frame) => frame.type === "control" && frame.kind)).toEqual([
    FRAME.ping,
    FRAME.synReply,
    FRAME.rstStream,
  ]);
});

test("bytes that are not SPDY, long frames and headers that inflate without end are errors", async () => {
  const bomb = createDeflate({ flush: constants.Z_SYNC_FLUSH });
  const packed = await new Promise<Buffer>((resolve) => {
    bomb.once("data", resolve);
    bomb.write(Buffer.alloc(10_000_000));
  });

  await expect(start().connection.receive(Buffer.from("\xffGET / HTTP/1.1\r\n", "latin1"))).rejects.toThrow("SPDY/3.1");
  await expect(start().connection.receive(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]))).rejects.toThrow(
    "too long",
  );
  await expect(
    start().connection.receive(
      controlFrame(FRAME.synStream, 0, Buffer.concat([Buffer.alloc(10), packed.subarray(0, 8000)])),
    ),
  ).rejects.toThrow(/dictionary|too long/);
});

test("closing ends the streams and the transport once", async () => {
  const { connection, streams, ended } = start();
  await connection.receive(await openStream(new HeaderBlocks(), 1, "stdin"));
  const seen: unknown[] = [];
  streams[0]?.onData((chunk) => seen.push(chunk));

  connection.close();
  connection.close();

  expect([seen, ended()]).toEqual([[undefined], true]);
});
