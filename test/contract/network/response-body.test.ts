import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { chunksOf, readBody } from "../../../packages/client/src/response-body.ts";

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

test("an HTTP/2 response is read completely, even when reading starts after the peer has ended the stream", async () => {
  const server = http2.createServer((_request, response) => void response.end("all of it"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stream = session.request({ ":path": "/" });
  await once(stream, "response");
  while (!stream.closed) await new Promise((resolve) => setImmediate(resolve));

  const text = await textOf(chunksOf(stream));

  expect(text).toBe("all of it");
  session.destroy();
  server.close();
});

test("a truncated response is distinguished from a complete one", async () => {
  const body = new PassThrough();
  body.write("half");
  setImmediate(() => body.destroy());

  await expect(textOf(chunksOf(body))).rejects.toThrow("the connection was lost before the response was complete");
});

test("leaving the iteration early discards the rest of the body", async () => {
  const body = new PassThrough();
  body.write("some");

  for await (const _ of chunksOf(body)) break;

  expect(body.destroyed).toBe(true);
});

test("a response in thousands of chunks of one byte is rejected, and its bytes no longer count", async () => {
  const body = new PassThrough();
  let held = 0;
  const reading = readBody(body, new AbortController().signal, {
    maxBytes: 1_000_000,
    meter: { add: (bytes) => void (held += bytes) },
  });
  for (let index = 0; index < 2_000; index++) body.emit("data", Buffer.from(" "));

  await expect(reading).rejects.toThrow("the response arrives in too many small chunks");
  await new Promise((resolve) => setImmediate(resolve));
  expect(held).toBe(0);
});
