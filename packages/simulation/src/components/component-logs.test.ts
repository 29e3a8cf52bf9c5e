/** Which lines are kept, for which cluster and component, and how many. */
import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { Log, LogFields } from "@flotilla/base";
import { createComponentLogs } from "./component-logs.ts";

const make = () =>
  createComponentLogs({
    clock: createFakeClock(),
    componentOf: (controller) => (controller === "cloneset" ? "manager" : undefined),
  });

test("component logs keep lines by the cluster of their key and the component of their controller, and passes them on", () => {
  const logs = make();
  const passed: [string, LogFields | undefined][] = [];
  const inner: Log = {
    ...silentLog,
    info: (message, fields) => void passed.push([message, fields]),
    with: () => inner,
  };
  const log = logs.keep(inner).with({ controller: "cloneset" }).with({ key: "m1/shop/web" });

  log.info("pods changed", { revision: "web-1", why: "a b", error: new Error("no room") });
  logs.keep(silentLog).with({ controller: "deployment", key: "m1/shop/web" }).info("left out");
  logs.keep(silentLog).with({ controller: "cloneset" }).info("about no member");

  expect(passed).toEqual([["pods changed", { revision: "web-1", why: "a b", error: new Error("no room") }]]);
  expect(logs.linesOf("m1", "manager").map(({ text }) => text)).toEqual([
    '2024-05-01T12:00:00.000Z INFO pods changed controller=cloneset key=shop/web revision=web-1 why="a b" error="no room"',
  ]);
  expect(logs.linesOf("m2", "manager")).toEqual([]);
});

test("component logs keep the newest lines of a member, and none of a deleted member", () => {
  const logs = make();
  const log = logs.keep(silentLog).with({ controller: "cloneset", key: "m1/shop/web" });

  for (let count = 0; count < 2_000; count++) log.debug(`line ${count}`);

  const lines = logs.linesOf("m1", "manager");
  expect(lines).toHaveLength(500);
  expect(lines.at(-1)?.text).toBe("2024-05-01T12:00:00.000Z DEBUG line 1999 controller=cloneset key=shop/web");
  logs.forget("m1");
  expect(logs.linesOf("m1", "manager")).toEqual([]);
});

test("lines about an unbounded number of members evict those of the oldest member", () => {
  const logs = make();
  const log = logs.keep(silentLog).with({ controller: "cloneset" });

  for (let count = 0; count < 5_000; count++) log.info("seen", { key: `m${count}/shop/web` });

  expect(logs.linesOf("m0", "manager")).toEqual([]);
  expect(logs.linesOf("m4999", "manager")).toHaveLength(1);
});

test("a follower receives the lines written from then on, until it stops", async () => {
  const logs = make();
  const stopping = new AbortController();
  const reported: string[] = [];
  const log = logs.keep(silentLog).with({ controller: "cloneset", key: "m1/shop/web" });
  log.info("before");

  const following = (async () => {
    for await (const { text } of logs.follow("m1", "manager", stopping.signal)) {
      reported.push(text);
      if (reported.length === 2) stopping.abort();
    }
  })();
  await Promise.resolve();
  log.info("first");
  log.warn("second");
  await following;

  expect(reported).toEqual([
    "2024-05-01T12:00:00.000Z INFO first controller=cloneset key=shop/web",
    "2024-05-01T12:00:00.000Z WARN second controller=cloneset key=shop/web",
  ]);
});
