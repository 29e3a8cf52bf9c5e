import { expect, onTestFinished, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { createFakeClock, MetricsText, silentLog, TerminalError } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { done, type Result } from "./runtime-controller.ts";
import { writeControllerMetrics } from "./controller-metrics.ts";
import { defineController } from "./define-controller.ts";
import { createInformers } from "./informers.ts";
import { createManager } from "./manager.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const TEN_MINUTES_MS = 600_000;

/** A controller of Widgets whose reconcile depends on the object's name. */
function setUp(reconcile: (name: string) => Promise<Result>, { concurrency = 8 }: { concurrency?: number } = {}) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: "hub" } });
  const manager = createManager({ client, informers, clock, log: silentLog });
  manager.add(
    defineController({
      name: "widgets",
      for: Widget,
      writes: [],
      concurrency,
      reconcile: ({ metadata }) => reconcile(metadata.name),
    }),
  );
  const stop = new AbortController();
  onTestFinished(async () => {
    const stopped = manager.stop();
    clock.advance(10_000);
    await stopped;
    informers.close();
  });
  return {
    clock,
    client,
    manager,
    start: () => manager.start(stop.signal),
    create: (name: string) =>
      client.create(Widget, "hub", {
        apiVersion: "example.dev/v1",
        kind: "Widget",
        metadata: { name, namespace: "shop" },
      }),
    settle: () => reconcileUntilQuiet({ managers: [manager], server: client }),
    turns: async () => {
      for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => void setImmediate(resolve));
    },
    text: () => {
      const text = new MetricsText();
      writeControllerMetrics(text, [manager]);
      return text.finish();
    },
  };
}

async function outcomeOf(name: string): Promise<Result> {
  if (name === "later") return { requeueAfterMs: 60_000 };
  if (name === "failing") throw new Error("broken");
  if (name === "terminal") throw new TerminalError("not possible");
  return done;
}

test("a controller that never reconciled has counters and no histograms", async () => {
  const { start, create, settle, text } = setUp(() => Promise.resolve(done));
  start();
  await settle();
  const before = text();

  await create("a");
  await settle();

  expect(before).toContain('workqueue_adds_total{name="widgets"} 0');
  expect(before).not.toMatch(/^\w+_bucket/m);
  expect(text()).toContain('controller_runtime_reconcile_time_seconds_count{controller="widgets"} 1');
  expect(text()).toContain('workqueue_work_duration_seconds_bucket{name="widgets",le="1e-08"} 0');
});

test("reconciles are counted by result, under controller-runtime's metric names", async () => {
  const { create, start, settle, text } = setUp(outcomeOf);
  start();
  for (const name of ["fine", "also-fine", "later", "failing", "terminal"]) await create(name);
  await settle();

  const lines = text();

  expect(lines).toContain('controller_runtime_reconcile_total{controller="widgets",result="error"} 2\n');
  expect(lines).toContain('controller_runtime_reconcile_total{controller="widgets",result="requeue_after"} 1\n');
  expect(lines).toContain('controller_runtime_reconcile_total{controller="widgets",result="success"} 2\n');
  expect(lines).toContain('controller_runtime_reconcile_errors_total{controller="widgets"} 2\n');
  expect(lines).toContain('controller_runtime_terminal_reconcile_errors_total{controller="widgets"} 1\n');
  expect(lines).toContain('controller_runtime_max_concurrent_reconciles{controller="widgets"} 8\n');
  expect(lines).toContain('controller_runtime_reconcile_time_seconds_count{controller="widgets"} 5\n');
  expect(lines).toContain('workqueue_adds_total{name="widgets"} 5\n');
  expect(lines).toContain('workqueue_retries_total{name="widgets"} 1\n');
  expect(lines).toContain('workqueue_queue_duration_seconds_count{name="widgets"} 5\n');
  expect(lines).toContain('flotilla_workqueue_delayed{name="widgets"} 2\n');
});

test("queued and running keys are reported with their age", async () => {
  const { clock, create, start, turns, text } = setUp(() => new Promise<never>(() => {}), { concurrency: 1 });
  start();
  await create("a");
  await create("b");
  await turns();

  clock.advance(90_000);
  const lines = text();

  expect(lines).toContain('workqueue_depth{name="widgets"} 1\n');
  expect(lines).toContain('controller_runtime_active_workers{controller="widgets"} 1\n');
  expect(lines).toContain('workqueue_longest_running_processor_seconds{name="widgets"} 90\n');
  expect(lines).toContain('workqueue_unfinished_work_seconds{name="widgets"} 90\n');
  expect(lines).toContain('flotilla_workqueue_oldest_seconds{name="widgets"} 90\n');
  expect(lines).toContain('controller_runtime_reconcile_total{controller="widgets",result="success"} 0\n');
});

test("a manager is healthy from the end of its initial sync until it stops", async () => {
  const { client, clock, manager, start, settle } = setUp(outcomeOf);
  client.failNext("watch", new UnreachableError("not reachable"));

  const before = manager.problems();
  start();
  await settle();
  const unreachable = manager.problems();
  clock.advance(1000);
  await settle();
  const listed = manager.problems();
  await manager.stop();

  expect([before, unreachable, listed, manager.problems()]).toEqual([
    ["the controllers have not started"],
    ["no response for widgets yet"],
    [],
    ["the controllers are stopping"],
  ]);
});

test("a kind that is not served is not a problem", async () => {
  const { client, manager, start, settle } = setUp(outcomeOf);
  client.setServed(Widget, false);

  start();
  await settle();

  expect(manager.problems()).toEqual([]);
});

test("a reconcile that does not end is a problem, and so are the keys queued behind it", async () => {
  const { clock, create, manager, start, turns } = setUp(() => new Promise<never>(() => {}), { concurrency: 1 });
  start();
  await create("a");
  await turns();
  await create("b");
  await turns();

  clock.advance(TEN_MINUTES_MS - 1);
  const before = manager.problems();
  clock.advance(1);

  expect(before).toEqual([]);
  expect(manager.problems()).toEqual([
    "widgets has been reconciling hub/shop/a for 10 min",
    "widgets has not processed a queued key for 10 min",
  ]);
});

test("a controller whose reconciles all fail is a problem, and single failing objects are not", async () => {
  const { clock, create, manager, start, settle } = setUp(async (name) => {
    if (name.startsWith("bad")) throw new Error("broken");
    return done;
  });
  start();
  for (const name of ["bad-1", "bad-2"]) await create(name);
  await settle();
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 60_000) {
      clock.advance(60_000);
      await settle();
    }
  };
  await pass(2 * TEN_MINUTES_MS);
  const withTwo = manager.problems();

  await create("bad-3");
  await settle();
  const withThree = manager.problems();
  await create("good");
  await settle();

  expect(withTwo).toEqual([]);
  expect(withThree).toEqual(["widgets has had no successful reconcile for 20 min; 3 keys are failing"]);
  expect(manager.problems()).toEqual([]);
});
