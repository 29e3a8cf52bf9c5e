import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { countedRequests } from "./counted-request.ts";

const CHUNKS = 10_000;
/** What a connection may send above its bytes, what each body may, and what these bytes allow. */
const ACCEPTED = 270;

test("a body in tiny chunks is parsed no further than to the chunk that is rejected", async () => {
  let parsed = 0;
  const server = http.createServer(
    {
      IncomingMessage: class extends countedRequests(() => 0) {
        override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
          if (chunk) parsed++;
          return super.push(chunk, encoding);
        }
      },
    },
    (request, response) =>
      void text(request).then(
        (body) => response.end(body),
        () => response.destroy(),
      ),
  );
  server.on("clientError", (_error, socket) => socket.destroy());
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));

  socket.write(`POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(CHUNKS)}`);
  await once(socket, "close");

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(parsed).toBeLessThanOrEqual(ACCEPTED);
  // Node gives the parser of a closed connection to a later one.
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "a body", keepalive: false });
  expect(await response.text()).toBe("a body");
});
