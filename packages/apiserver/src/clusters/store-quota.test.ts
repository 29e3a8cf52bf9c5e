import { expect, test } from "vitest";
import { createTestServer, type TestServer } from "../test-server.ts";
import { createStoreQuota } from "./store-quota.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { "content-type": "application/merge-patch+json" };
const map = (name: string, bytes: number, more: object = {}): object => ({
  metadata: { name, ...more },
  data: { text: "x".repeat(bytes) },
});

/** A server whose quota has room for this many bytes more than a new one has. */
async function startWith(roomBytes: number): Promise<TestServer> {
  const empty = await createTestServer();
  await empty.settle();
  return createTestServer({ storeQuotaBytes: empty.cache.bytes + roomBytes });
}

test("a full store rejects what would make it larger with 507, also in a dry run, and says what to do", async () => {
  const { request } = await startWith(20_000);
  const first = await request("POST", CONFIG_MAPS, map("a", 15_000));

  const second = await request("POST", CONFIG_MAPS, map("b", 15_000));
  const dry = await request("POST", `${CONFIG_MAPS}?dryRun=All`, map("b", 15_000));
  const grown = await request("PATCH", `${CONFIG_MAPS}/a`, { data: { more: "y".repeat(10_000) } }, MERGE);

  expect(first.status).toBe(201);
  for (const { body } of [second, dry, grown])
    expect(body).toMatchObject({
      code: 507,
      reason: "InsufficientStorage",
      message: expect.stringMatching(
        /^the store of this server is full: its objects have \d+ of \d+ bytes; delete objects, or start it with a larger --store-quota$/,
      ) as string,
    });
});

test("a full store deletes and shrinks objects, and then takes new ones", async () => {
  const { request, cache } = await startWith(42_000);
  await request("POST", CONFIG_MAPS, map("a", 20_000, { finalizers: ["example.dev/held"] }));
  await request("POST", CONFIG_MAPS, map("b", 20_000));
  const full = await request("POST", CONFIG_MAPS, map("c", 20_000));

  // An object with a finalizer grows when its deletion is marked.
  const marked = await request("DELETE", `${CONFIG_MAPS}/a`);
  const released = await request("PATCH", `${CONFIG_MAPS}/a`, { metadata: { finalizers: null } }, MERGE);
  const shrunk = await request("PATCH", `${CONFIG_MAPS}/b`, { data: { text: "x" } }, MERGE);
  const held = cache.bytes;
  const next = await request("POST", CONFIG_MAPS, map("c", 20_000));

  expect([full, marked, released, shrunk, next].map(({ status }) => status)).toEqual([507, 200, 200, 200, 201]);
  expect(cache.bytes - held).toBeGreaterThan(20_000);
});

test("the size of the store is the sum of its values, also when it is opened again", async () => {
  const { engine, cache, request, settle } = await createTestServer();
  await request("POST", CONFIG_MAPS, map("a", 1000));
  await request("DELETE", `${CONFIG_MAPS}/a`);
  await request("POST", CONFIG_MAPS, map("b", 1000));
  await settle();

  const again = await createTestServer({ engine });

  expect(cache.bytes).toBe(cache.list("").reduce((total, { value }) => total + value.byteLength, 0));
  expect(again.cache.bytes).toBe(cache.bytes);
});

test("a server starts on a store above its quota: it reads and deletes, and takes new objects again afterwards", async () => {
  const { engine, cache, request, settle } = await createTestServer();
  for (const name of ["a", "b", "c"]) await request("POST", CONFIG_MAPS, map(name, 20_000));
  await settle();

  const full = await createTestServer({ engine, storeQuotaBytes: cache.bytes - 10_000 });
  const read = await full.request("GET", `${CONFIG_MAPS}/a`);
  const rejected = await full.request("POST", CONFIG_MAPS, map("d", 20_000));
  const deleted = [await full.request("DELETE", `${CONFIG_MAPS}/a`), await full.request("DELETE", `${CONFIG_MAPS}/b`)];
  const created = await full.request("POST", CONFIG_MAPS, map("d", 20_000));

  expect([read, rejected, ...deleted, created].map(({ status }) => status)).toEqual([200, 507, 200, 200, 201]);
});

test("a store that is nearly full is reported, and the server stays ready so that clients can delete something", async () => {
  const { request } = await startWith(0);

  const page = await request("GET", "/readyz?verbose");
  const check = await request("GET", "/readyz/store-quota");

  expect(page.text).toContain("[-]store-quota failed: reason withheld\n");
  expect([page.status, check.status]).toEqual([200, 500]);
});

test.each([
  ["an object that grows a little", 99, 100, 4_000, true],
  ["an object that grows a little, without a reserve left", 107, 100, 4_000, false],
  ["a new object", 99, 0, 2_000, false],
  ["an object that grows much", 99, 100, 50_000, false],
  ["an object that shrinks", 200, 50_000, 100, true],
])("%s, in a store of %i %% of its quota", (_what, percent, before, after, isAccepted) => {
  const quota = createStoreQuota({ bytes: percent * 1000 }, 100_000);
  const check = (): void => quota.check(before, after);

  let failure = "";
  try {
    check();
  } catch (error) {
    failure = String(error);
  }
  expect(failure).toMatch(isAccepted ? /^$/ : /the store of this server is full/);
});

test("a quota of 0 is none", () => {
  const quota = createStoreQuota({ bytes: Number.MAX_SAFE_INTEGER }, 0);

  expect(quota.isNearlyFull()).toBe(false);
  expect(() => quota.check(0, 1e9)).not.toThrow();
});
