/** What a viewer may see, when rights are taken away and when no page is open. */
import { beforeEach, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";
import { createViewer } from "./viewers.ts";
import type { Viewer } from "./viewers.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const MAY = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const RIGHTS_MS = 1_500;

let clock: FakeClock;
let hub: TestHub;
let rejected: number;
const { signal } = new AbortController();
const open = (): Promise<Viewer> =>
  createViewer(
    {
      key: "ann",
      hub: {
        client: { ...createFakeClient({ clock }), raw: hub.client.raw },
        close: async () => {},
      } as unknown as HubConnection,
      data: "",
      rightsMs: RIGHTS_MS,
      onRejected: () => void (rejected += 1),
      clock,
      log: silentLog,
    },
    signal,
  );
beforeEach(() => {
  clock = createFakeClock();
  hub = createTestHub();
  rejected = 0;
  hub.answer(WHO, { status: { userInfo: { username: "ann", groups: ["team"] } } }, 201);
  allow(true);
});
const allow = (allowed: boolean): void => hub.answer(MAY, { status: { allowed } }, 201);

async function pass(ms: number): Promise<void> {
  await hub.settle();
  clock.advance(ms);
  await hub.settle();
}

test("credentials that the hub rejects open no viewer", async () => {
  hub.answer(WHO, {}, 401);

  await expect(open()).rejects.toThrow("the hub rejects these credentials");
});

test("a viewer whose rights are taken away is called back, and sees what is left", async () => {
  const viewer = await open();
  let calls = 0;
  viewer.onRights(() => (calls += 1));
  expect((await viewer.join(signal)).feed.scope.hidden).toEqual([]);

  allow(false);
  await pass(RIGHTS_MS);
  expect(calls).toBe(1);
  viewer.leave();
  const { feed } = await viewer.join(signal);

  expect(feed.scope).toMatchObject({ hidden: expect.arrayContaining(["clusters"]), namespaces: [] });
  await viewer.close();
});

test("a viewer whose rights stay keeps its view", async () => {
  const viewer = await open();
  let calls = 0;
  viewer.onRights(() => (calls += 1));
  const view = await viewer.join(signal);

  for (let look = 0; look < 5; look++) await pass(RIGHTS_MS);

  expect(calls).toBe(0);
  expect(await viewer.join(signal)).toBe(view);
  await viewer.close();
});

test("rights are checked as often as before after they have changed", async () => {
  const viewer = await open();
  viewer.onRights(() => {
    viewer.leave();
    void viewer.join(signal);
  });
  await viewer.join(signal);
  const reviewsIn = async (periods: number): Promise<number> => {
    const before = hub.requests.length;
    for (let period = 0; period < periods; period++) await pass(RIGHTS_MS);
    return hub.requests.length - before;
  };
  const first = await reviewsIn(4);

  allow(false);
  await pass(RIGHTS_MS);
  allow(true);
  await pass(RIGHTS_MS);

  expect(first).toBeGreaterThan(0);
  expect(await reviewsIn(4)).toBe(first);
  await viewer.close();
});

test("credentials that the hub no longer accepts are reported, because watches would go on", async () => {
  const viewer = await open();
  await viewer.join(signal);

  hub.answer(MAY, { message: "the token has expired" }, 401);
  await pass(RIGHTS_MS);

  expect(rejected).toBe(1);
  await viewer.close();
});

test("the view of a viewer ends half a minute after its last page", async () => {
  const viewer = await open();
  const view = await viewer.join(signal);
  viewer.leave();

  await pass(29_000);
  expect(await viewer.join(signal)).toBe(view);
  viewer.leave();
  await pass(30_000);
  await pass(RIGHTS_MS);

  expect(clock.nextDue()).toBeUndefined();
  expect(await viewer.join(signal)).not.toBe(view);
  await viewer.close();
});
