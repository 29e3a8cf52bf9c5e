import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

test("a place without writers is empty immediately", async () => {
  const inFlight = new InFlight();
  inFlight.enter("paris/shop");

  await expect(inFlight.whenEmpty("paris/bar")).resolves.toBeUndefined();
});

test("a place is empty when the last writer leaves, for all waiters", async () => {
  const inFlight = new InFlight();
  const reported: string[] = [];
  inFlight.enter("paris/shop");
  inFlight.enter("paris/shop");
  const waiting = ["a", "b"].map((who) => inFlight.whenEmpty("paris/shop").then(() => reported.push(who)));

  inFlight.leave("paris/shop");
  await Promise.resolve();
  const before = [...reported];
  inFlight.leave("paris/shop");
  await Promise.all(waiting);

  expect(before).toEqual([]);
  expect(reported).toEqual(["a", "b"]);
});

test("a writer that enters before the waiters are resumed is waited for as well", async () => {
  const inFlight = new InFlight();
  let isEmpty = false;
  inFlight.enter("paris");
  const waiting = inFlight.whenEmpty("paris").then(() => (isEmpty = true));

  inFlight.leave("paris");
  inFlight.enter("paris");
  await new Promise((resolve) => setImmediate(resolve));
  const before = isEmpty;
  inFlight.leave("paris");
  await waiting;

  expect([before, isEmpty]).toEqual([false, true]);
});
