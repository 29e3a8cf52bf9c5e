import { expect, test } from "vitest";
import { Work } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { UnknownKindError, UnreachableError } from "@flotilla/client";
import { badRequest } from "@flotilla/apimachinery";
import { createInformers, done } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { makeCluster, makeWork } from "@flotilla/testing/builders.ts";
import { createWorksDriver } from "./works-driver.ts";

const work = makeWork("paris", "web").build();
const key = { cluster: "hub", namespace: work.metadata.namespace ?? "", name: "web" };
const { signal } = new AbortController();

async function setUp(stored: readonly Work[] = [work]) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  for (const each of stored) await client.create(Work, "hub", each);
  const shared = { clock, random: createSeededRandom(1), log: silentLog };
  const informers = createInformers({ ...shared, client, scope: { cluster: "hub" } });
  informers.of(Work);
  await informers.of(Work).whenQuiet(signal);
  let [generation, rules] = [1, 1];
  const driver = createWorksDriver({
    kind: Work,
    informers,
    statusClient: client,
    memberOf: () => "paris",
    serves: () => false,
    objectsOf: () => [{ ...work, metadata: { ...work.metadata, generation } }],
    circumstancesOf: () => String(rules),
    ...shared,
  });
  const changeCluster = (event: Omit<ObjectEvent<Cluster>, "cluster">): unknown[] =>
    driver.watches.flatMap((request) =>
      "map" in request ? Array.from(request.map({ cluster: "hub", ...event })) : [],
    );
  return {
    driver,
    clock,
    informers,
    changeCluster,
    changeObject: () => void generation++,
    changeRules: () => void rules++,
  };
}

test("a rejected work backs off until one of its objects changes", async () => {
  const { driver, changeObject, informers } = await setUp();

  const { requeueAfterMs = 0 } = driver.retry(work, key, [badRequest("no such field")]);

  expect(requeueAfterMs).toBeGreaterThan(1_000);
  expect(driver.backoffMs(work, key)).toBeCloseTo(requeueAfterMs, 3);
  changeObject();
  expect(driver.backoffMs(work, key)).toBe(0);
  informers.close();
});

test("a rejected work is retried at once when what decides its requests changes", async () => {
  const { driver, changeRules, informers } = await setUp();
  driver.retry(work, key, [badRequest("no such field")]);

  changeRules();

  expect(driver.backoffMs(work, key)).toBe(0);
  informers.close();
});

test("a transient failure is thrown for the queue's backoff", async () => {
  const { driver, informers } = await setUp();

  expect(() => driver.retry(work, key, [badRequest("no such field"), new Error("connection reset")])).toThrow(
    "connection reset",
  );
  expect(driver.backoffMs(work, key)).toBe(0);
  informers.close();
});

test("a work that waits for a kind is requeued when its member serves other kinds", async () => {
  const { driver, changeCluster, informers } = await setUp();
  driver.retry(work, key, [new UnknownKindError("paris", "example.dev/v1", "Widget")]);
  const old = makeCluster("paris");

  const requeued = changeCluster({
    old,
    object: { ...old, status: { ...old.status, apiEnablements: [{ groupVersion: "example.dev/v1" }] } },
    deleted: false,
  });

  expect(requeued).toEqual([key]);
  expect(driver.backoffMs(work, key)).toBe(0);
  informers.close();
});

test("an unreachable member keeps a lane until its Cluster is deleted", async () => {
  const { driver, changeCluster, informers } = await setUp();
  const unreachable = driver.visit(key, {
    run: async (beforeRequest) => {
      beforeRequest();
      throw new UnreachableError("no answer");
    },
  });
  await expect(unreachable).rejects.toThrow("no answer");
  driver.forget(key);
  expect(driver.lanes.figures()).toMatchObject([{ cluster: "paris", failures: 1, waiting: 0 }]);

  const cluster = makeCluster("paris");
  changeCluster({ old: cluster, object: cluster, deleted: true });

  expect(driver.lanes.figures()).toEqual([]);
  informers.close();
});

test("a work of another agent is not reconciled, and a deleted one is forgotten", async () => {
  const { driver, informers } = await setUp();
  const reconciled: string[] = [];
  const controller = driver.onlyServed({
    reconcile: async ({ name }: { name: string }) => (reconciled.push(name), done),
  } as unknown as Controller<typeof key>);

  await controller.reconcile(key, {} as never);
  await controller.reconcile({ ...key, name: "deleted" }, {} as never);

  expect(reconciled).toEqual(["deleted"]);
  informers.close();
});
