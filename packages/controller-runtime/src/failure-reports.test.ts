import { expect, test } from "vitest";
import { forbidden } from "@flotilla/apimachinery";
import { createFakeClock, silentLog } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createEventRecorders } from "./create-event-recorders.ts";
import { createFailureReports } from "./failure-reports.ts";
import type { FailureReports } from "./failure-reports.ts";
import { Event } from "./kinds.ts";

const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "shop", name: "web", uid: "1" },
};

function setUp() {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  /** What one process has. */
  const start = (): FailureReports => {
    clock.advance(1000);
    return createFailureReports({
      cluster: "hub",
      component: "rules",
      // The fake has no selectors, and no events of others.
      client: { list: (kind, options) => client.list(kind, { ...options, fieldSelector: undefined }) },
      events: createEventRecorders({ client, clock, log: silentLog }).recorders("rules"),
      endings: { RuleFailed: "The rule succeeds." },
      clock,
      log: silentLog,
    });
  };
  const quiet = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  };
  const reasons = async (): Promise<(string | undefined)[]> => {
    await quiet();
    const { items } = await client.list(Event, { cluster: "hub" });
    return items.map(({ reason }) => reason);
  };
  return { clock, client, start, quiet, reasons };
}

test("the end of a failure that an earlier process reported is reported once, with its object", async () => {
  const { client, start, quiet, reasons } = setUp();
  start().failed(web, "RuleFailed", "nil");
  await quiet();

  const next = start();
  for (let turn = 0; turn < 2; turn++) {
    next.over(web, "RuleFailed");
    await quiet();
  }
  next.over(web, "RuleFailed");

  expect(await reasons()).toEqual(["RuleFailed", "RuleSucceed"]);
  const { items } = await client.list(Event, { cluster: "hub" });
  expect(items[1]).toMatchObject({ involvedObject: items[0]?.involvedObject, message: "The rule succeeds." });
});

test("a failure that an earlier process reported ends when its rule succeeds, which may be long after the start", async () => {
  const { start, quiet, reasons } = setUp();
  start().failed(web, "RuleFailed", "nil");
  await quiet();

  const next = start();
  next.over({ ...web, metadata: { ...web.metadata, uid: "2" } }, "RuleFailed");
  await quiet();
  next.over(web, "RuleFailed");

  expect(await reasons()).toEqual(["RuleFailed", "RuleSucceed"]);
});

test("an end that an earlier process reported is not reported again", async () => {
  const { clock, start, quiet, reasons } = setUp();
  const first = start();
  first.failed(web, "RuleFailed", "nil");
  clock.advance(1000);
  first.over(web, "RuleFailed");
  await quiet();

  start().over(web, "RuleFailed");

  expect(await reasons()).toEqual(["RuleFailed", "RuleSucceed"]);
});

test("events that could not be read are read again", async () => {
  const { clock, client, start, quiet, reasons } = setUp();
  start().failed(web, "RuleFailed", "nil");
  await quiet();
  client.failNext("list", new UnreachableError("no answer"));

  const next = start();
  next.over(web, "RuleFailed");
  await quiet();
  clock.advance(60_000);
  next.over(web, "RuleFailed");

  expect(await reasons()).toEqual(["RuleFailed", "RuleSucceed"]);
});

test("a part that may not read events asks once", async () => {
  const { clock, client, start, quiet } = setUp();
  client.failNext("list", forbidden({ group: "", resource: "events" }, "", "no right"));

  const reports = start();
  for (let turn = 0; turn < 3; turn++) {
    reports.over(web, "RuleFailed");
    await quiet();
    clock.advance(60_000);
  }

  expect(client.count("list")).toBe(1);
});
