import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { pingWhileBusy } from "./http2-session.ts";

test("a ping that is due while a broken session closes does not throw", async () => {
  const clock = createFakeClock();
  const server = http2.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  pingWhileBusy({ http2: session, active: 1, limit: 100 }, clock);

  session.destroy(); // It closes in a later turn of the event loop.

  expect(() => clock.advance(30_000)).not.toThrow();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

test("a peer that does not answer a ping in time is closed, as soon as the connection says", async () => {
  const clock = createFakeClock();
  const server = http2.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.on("error", () => {});
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  session.ping = () => true; // The network loses it.
  pingWhileBusy({ http2: session, active: 1, limit: 100 }, clock, { pingAfterMs: 1_000, pingMs: 1_500 });

  clock.advance(2_400);
  const before = session.destroyed;
  clock.advance(100);

  expect([before, session.destroyed]).toEqual([false, true]);
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
