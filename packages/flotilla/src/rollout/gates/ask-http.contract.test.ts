/** Servers of gates are chosen by tenants' administrators, and may be slow or hostile. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { createAskGate } from "./ask-http.ts";

let clock: FakeClock;
let server: http.Server;
let answer: http.RequestListener;
let seen: { path: string; authorization: string | undefined }[];
beforeEach(async () => {
  clock = createFakeClock();
  seen = [];
  server = http.createServer((request, response) => {
    seen.push({ path: request.url ?? "", authorization: request.headers.authorization });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const ask = (): Promise<string> =>
  createAskGate(clock)(
    {
      method: "GET",
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api?query=up`,
      bearerToken: "s3cret",
    },
    new AbortController().signal,
  );

test("a gate gets the body of an answer, and sends its token", async () => {
  answer = (_request, response) => response.end('{"open":true}');

  expect(await ask()).toBe('{"open":true}');
  expect(seen).toEqual([{ path: "/api?query=up", authorization: "Bearer s3cret" }]);
});

const failures: Record<string, { answer: http.RequestListener; message: string }> = {
  "redirects to another server": {
    answer: (_request, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    message: "the server answered 302",
  },
  "answers without end": {
    answer(_request, response) {
      const more = (): unknown => (response.destroyed ? undefined : response.write("a".repeat(65_536), () => more()));
      more();
    },
    message: "the answer has more than 262144 bytes",
  },
  "closes the connection in the middle": {
    answer(_request, response) {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.destroy());
    },
    message: "aborted",
  },
};
for (const [what, { answer: given, message }] of Object.entries(failures)) {
  test(`a gate fails when its server ${what}`, async () => {
    answer = given;

    await expect(ask()).rejects.toThrow(message);
    expect(seen).toHaveLength(1);
  });
}

test("a gate fails when its server answers in tiny pieces", async () => {
  answer = (_request, response) => {
    response.socket?.setNoDelay(true);
    const more = (): void => {
      if (!response.destroyed) response.write("a", () => setImmediate(more));
    };
    more();
  };

  await expect(ask()).rejects.toThrow("the answer arrives in tiny pieces");
});

const silences: Record<string, http.RequestListener> = {
  "sends nothing": () => {},
  "sends half an answer": (_request, response) => void response.write("{"),
};
for (const [what, given] of Object.entries(silences)) {
  test(`a gate fails after ten seconds when its server ${what}`, async () => {
    const arrived = Promise.withResolvers<void>();
    answer = (request, response) => {
      given(request, response);
      arrived.resolve();
    };
    void arrived.promise.then(() => clock.advance(10_000));

    await expect(ask()).rejects.toThrow("no answer within 10 s");
  });
}
