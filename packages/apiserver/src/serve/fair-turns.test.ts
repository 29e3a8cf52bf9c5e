import { expect, test } from "vitest";
import { createFairTurns } from "./fair-turns.ts";

/** Requests that take a millisecond each; `order` shows what ran, with "turn" between turns of the event loop. */
function makeServer() {
  let nowMs = 0;
  const order: string[] = [];
  const turns = createFairTurns(() => nowMs);
  const request = async (client: string, user = client): Promise<void> => {
    const turn = turns.begin(client, user);
    if (turn) await turn;
    nowMs++;
    order.push(user);
  };
  return { turns, order, request };
}
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("requests begin at once while a turn has time", async () => {
  const { turns, order, request } = makeServer();

  const running = ["a", "a", "b"].map((client) => request(client));

  expect(order).toEqual(["a", "a", "b"]);
  expect(turns.waiting).toBe(0);
  await Promise.all(running);
});

test("a burst of one client leaves the event loop to others after some milliseconds", async () => {
  const { order, request } = makeServer();

  const running = Array.from({ length: 10 }, () => request("a"));
  await nextTurn();
  order.push("other work");
  await Promise.all(running);

  expect(order.indexOf("other work")).toBe(8);
});

test("a client with one request waits for one request of each other client, not for a burst of it", async () => {
  const { order, request } = makeServer();

  const burst = Array.from({ length: 40 }, () => request("a"));
  const single = request("b");
  await Promise.all([...burst, single]);

  expect(order.indexOf("b")).toBe(5);
});

test("users of one client take turns: a user of others who sends requests there does not displace its own", async () => {
  const { order, request } = makeServer();

  const burst = Array.from({ length: 40 }, () => request("cluster one", "visitor"));
  const own = request("cluster one", "owner");
  await Promise.all([...burst, own]);

  expect(order.indexOf("owner")).toBe(5);
});

test("a client that has too many waiting requests is rejected, and others are not", async () => {
  const { turns, request } = makeServer();

  const burst = Array.from({ length: 4 + 4_096 }, () => request("a"));

  await expect(request("a")).rejects.toThrow("too many requests at the same time");
  const other = request("b");
  expect(turns.waiting).toBe(4_097);
  await Promise.all([...burst, other]);
});

test("all clients together have a bounded number of waiting requests, of which a new client still gets some", async () => {
  const { turns, request } = makeServer();
  const running: Promise<void>[] = [];
  const waitingOf = (client: string, count: number): number => {
    const before = turns.waiting;
    for (let index = 0; index < count; index++) running.push(request(client));
    return turns.waiting - before;
  };

  waitingOf("first", 4);
  const taken = Array.from({ length: 6 }, (_, index) => waitingOf(`192.0.2.${index}`, 5_000));
  const quiet = waitingOf("quiet", 1);
  for (let index = 0; index < 20_000; index++) waitingOf(`2001:db8::${index.toString(16)}`, 1);

  expect(taken).toEqual([4_096, 4_096, 4_096, 2_048, 1_024, 512]);
  expect([quiet, turns.waiting]).toEqual([1, 16_384]);
  const results = await Promise.allSettled(running);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4 + 16_384);
});

test("requests begin at once again when the others have begun", async () => {
  const { order, request } = makeServer();

  await Promise.all(Array.from({ length: 9 }, () => request("a")));
  await nextTurn();
  void request("b");

  expect(order.at(-1)).toBe("b");
});
