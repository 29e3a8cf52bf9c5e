import http2 from "node:http2";
import type { ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createFakeClock, systemClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { grpcStatus, openGrpcChannel } from "./grpc-channel.ts";
import type { GrpcChannel, GrpcError } from "./grpc-channel.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const framed = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.byteLength, 1);
  return Buffer.concat([head, bytes]);
};

/** A server that answers every stream in one way. */
async function serve(answer: (stream: ServerHttp2Stream) => void, clock: Clock = systemClock): Promise<GrpcChannel> {
  const server = http2.createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => {}); // Some answers break it on purpose.
    answer(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const channel = await openGrpcChannel({ endpoint: new URL(`http://127.0.0.1:${port}`), clock });
  closing.push(() => channel.close());
  return channel;
}

/** Sends these bytes in pieces, then a status. */
const answerWith =
  (pieces: readonly Buffer[], trailers: http2.OutgoingHttpHeaders) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    for (const piece of pieces) stream.write(piece);
    stream.end();
  };

const ask = async (channel: GrpcChannel): Promise<string> =>
  Buffer.from(await channel.call("/kv/Range", Buffer.from("?"), {}, 5_000)).toString();

test("joins a message that arrives in pieces", async () => {
  const whole = framed("the answer");
  const channel = await serve(
    answerWith([whole.subarray(0, 3), whole.subarray(3, 9), whole.subarray(9)], { "grpc-status": "0" }),
  );

  expect(await ask(channel)).toBe("the answer");
});

test("separates messages that arrive together, also empty ones", async () => {
  const channel = await serve(
    answerWith([Buffer.concat([framed("a"), framed(""), framed("b")])], { "grpc-status": "0" }),
  );

  const received: string[] = [];
  for await (const message of channel.stream("/watch", {}).messages()) received.push(Buffer.from(message).toString());

  expect(received).toEqual(["a", "", "b"]);
});

const failures: Record<string, { answer(stream: ServerHttp2Stream): void; want: Partial<GrpcError> }> = {
  "a status other than OK, with its decoded message": {
    answer: answerWith([], { "grpc-status": "14", "grpc-message": "no leader%3B try again" }),
    want: { status: grpcStatus.unavailable, message: "no leader; try again", mayHaveArrived: true },
  },
  "a status in the headers of an answer without messages": {
    answer: (stream) =>
      stream.respond(
        { ":status": 200, "grpc-status": "16", "grpc-message": "invalid auth token" },
        { endStream: true },
      ),
    want: { status: grpcStatus.unauthenticated, message: "invalid auth token" },
  },
  "an answer without a status": {
    answer: answerWith([framed("cut off")], {}),
    want: { status: grpcStatus.unavailable, mayHaveArrived: true },
  },
  "a stream that the server refused without looking at it": {
    answer: (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM),
    want: { status: grpcStatus.unavailable, mayHaveArrived: false },
  },
  "a message that claims to be larger than any answer": {
    answer: answerWith([Buffer.of(0, 0xff, 0xff, 0xff, 0xff)], { "grpc-status": "0" }),
    want: { status: grpcStatus.unknown },
  },
};
test.each(Object.entries(failures))("reports %s", async (_what, { answer, want }) => {
  const channel = await serve(answer);

  await expect(ask(channel)).rejects.toMatchObject(want);
});

test("a port on which nothing listens was certainly not reached", async () => {
  const opening = openGrpcChannel({ endpoint: new URL("http://127.0.0.1:1"), clock: systemClock });

  await expect(opening).rejects.toMatchObject({ status: grpcStatus.unavailable, mayHaveArrived: false });
});

test("a ping that is due while a broken connection closes does not throw", async () => {
  const clock = createFakeClock();
  const channel = await serve(() => {}, clock);

  channel.close(); // The session is destroyed now, and closes in a later turn of the event loop.

  expect(() => clock.advance(10_000)).not.toThrow();
});
