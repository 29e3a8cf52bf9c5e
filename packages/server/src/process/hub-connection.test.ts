import { expect, test } from "vitest";
import { createFakeClock, createLog } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { notFound } from "@flotilla/apimachinery";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { reportConnection } from "./hub-connection.ts";

const PATH = { cluster: "hub", group: "", version: "v1", resource: "pods" };

/** A transport whose responses the test decides. */
function setUp() {
  let answer: () => Promise<JsonObject> = () => Promise.resolve({});
  const stop = new AbortController();
  const lines: { level: string; message: string }[] = [];
  const log = createLog({
    level: "debug",
    clock: createFakeClock(0),
    write: (line) => void lines.push(JSON.parse(line) as { level: string; message: string }),
  });
  const base: Transport = {
    send: () => answer(),
    async *watch() {
      await answer();
      yield [];
    },
    raw: () => Promise.reject(new Error("not used")),
    close: () => Promise.resolve(),
  };
  const connection = reportConnection(base, { log, server: "https://hub", signal: stop.signal });
  const send = async (): Promise<void> => {
    await Promise.allSettled([connection.transport.send({ verb: "get", path: PATH })]);
  };
  const watch = async (): Promise<void> => {
    try {
      for await (const _ of connection.transport.watch({ path: PATH }, stop.signal));
    } catch (error) {
      connection.log.with({ kind: "Pod" }).warn("watch failed, retrying", { error });
    }
  };
  return {
    ...connection,
    stop,
    send,
    watch,
    lines: () => lines.map(({ level, message }) => `${level} ${message}`),
    answers: (next: typeof answer) => void (answer = next),
  };
}
const unreachable = (): Promise<never> => Promise.reject(new UnreachableError("connection refused"));

test("the loss of the connection and its return are one line each, whatever the number of informers", async () => {
  const hub = setUp();
  await hub.send();

  hub.answers(unreachable);
  await Promise.all([hub.watch(), hub.watch(), hub.watch(), hub.send()]);
  hub.answers(() => Promise.resolve({}));
  await Promise.all([hub.watch(), hub.send()]);

  expect(hub.lines().filter((line) => !line.startsWith("debug"))).toEqual([
    "warn connection to the API server lost; retrying",
    "warn connection to the API server is back",
  ]);
  expect(hub.lines().filter((line) => line === "debug watch failed, retrying")).toHaveLength(3);
});

test("a response to a request from before the loss is not the return of the connection", async () => {
  const hub = setUp();
  await hub.send();
  const late = Promise.withResolvers<JsonObject>();
  hub.answers(() => late.promise);
  const pending = hub.send();
  hub.answers(unreachable);
  await hub.send();

  late.resolve({});
  await pending;

  expect(hub.lines()).toEqual(["warn connection to the API server lost; retrying"]);
});

test("a rejection by the server is a response", async () => {
  const hub = setUp();
  hub.answers(() => Promise.reject(notFound({ group: "", resource: "pods" }, "a")));
  await hub.send();
  hub.answers(unreachable);
  await hub.send();

  hub.answers(() => Promise.reject(notFound({ group: "", resource: "pods" }, "a")));
  await hub.send();

  expect(hub.lines()).toEqual([
    "warn connection to the API server lost; retrying",
    "warn connection to the API server is back",
  ]);
});

test("other warnings are logged as such, also while the connection is lost", async () => {
  const hub = setUp();
  await hub.send();
  hub.answers(unreachable);
  await hub.send();

  hub.log.warn("reconcile failed terminally", { error: new Error("invalid") });

  expect(hub.lines()).toContain("warn reconcile failed terminally");
});

test("nothing is logged before the first response, and while the process stops", async () => {
  const starting = setUp();
  starting.answers(unreachable);
  await starting.send();
  const stopping = setUp();
  await stopping.send();
  stopping.stop.abort();
  stopping.answers(unreachable);
  await stopping.send();

  expect([...starting.lines(), ...stopping.lines()]).toEqual([]);
});
