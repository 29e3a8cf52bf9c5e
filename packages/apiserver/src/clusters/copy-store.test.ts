import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { Engine } from "../store/engine.ts";
import { CompactedError } from "../store/errors.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createTestServer, makeConfigMap } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";
import { copyStore, openRestored, restoreInto } from "./copy-store.ts";

const MAPS = "/clusters/paris/api/v1/namespaces/default/configmaps";
const NAMESPACE = "/clusters/paris/api/v1/namespaces/default";
const NOW = { nowMs: Date.parse("2026-11-18T00:00:00Z"), onProgress: () => {} };

const start = (engine: Engine): Promise<TestServer> =>
  createTestServer({ engine, clusters: { hub: "hub", paris: "hub" } });
const metadataOf = ({ body }: Answered): JsonObject => body.metadata as JsonObject;

/** A server with two clusters, one of which was created later than the other objects. */
async function filled(): Promise<{ server: TestServer; engine: Engine; uids: unknown[] }> {
  const engine = createMemoryEngine();
  const server = await createTestServer({ engine, clusters: { hub: "hub" } });
  for (let index = 0; index < 20; index++)
    await server.request("POST", "/api/v1/namespaces/default/configmaps", makeConfigMap(`m${index}`));
  await server.server.addCluster("paris", "hub");
  const created = await server.request("POST", MAPS, makeConfigMap("kept"));
  return { server, engine, uids: [metadataOf(created).uid, metadataOf(await server.request("GET", NAMESPACE)).uid] };
}

test("a restored store has the objects of the snapshot, with their uids and those of bootstrap objects", async () => {
  const { engine, uids } = await filled();
  const shared = createMemoryEngine({ isShared: true });
  await shared.commit({ key: "/other", expect: "absent", value: Buffer.from("1") });
  await shared.commit({ key: "/other", expect: "any", value: null });
  const revision = await engine.revision();

  const objects = await restoreInto(shared, engine, { ...NOW, revision });
  const restored = await start(await openRestored(shared));
  const kept = await restored.request("GET", `${MAPS}/kept`);
  const namespace = await restored.request("GET", NAMESPACE);

  expect(objects).toBe(23);
  expect([metadataOf(kept).uid, metadataOf(namespace).uid]).toEqual(uids);
  expect(Number(metadataOf(kept).resourceVersion)).toBeGreaterThan(revision);
});

test("copied back, and copied again, a cluster keeps its identity", async () => {
  const { engine, uids } = await filled();
  let current = engine;
  for (let round = 0; round < 3; round++) {
    const next = createMemoryEngine();
    await next.commit({ key: "/before", expect: "absent", value: Buffer.from("1") });
    await next.commit({ key: "/before", expect: "any", value: null });
    await copyStore(current, next, () => {});
    current = next;
  }

  const copied = await start(current);

  expect(metadataOf(await copied.request("GET", NAMESPACE)).uid).toBe(uids[1]);
});

test("a cluster of the same name that is created later has another identity", async () => {
  const { engine, uids } = await filled();
  const copy = createMemoryEngine();
  await copyStore(engine, copy, () => {});
  const { server, request } = await start(copy);

  await server.removeCluster("paris");
  await server.addCluster("paris", "hub");

  expect(metadataOf(await request("GET", NAMESPACE)).uid).not.toBe(uids[1]);
});

test("clients of the former store get the error that their revision has expired", async () => {
  const { engine } = await filled();
  const shared = createMemoryEngine({ isShared: true });
  const revision = await engine.revision();
  await restoreInto(shared, engine, { ...NOW, revision });
  const restored = await openRestored(shared);

  const follow = async (): Promise<void> => {
    for await (const _ of restored.changes(revision, AbortSignal.timeout(1000))) return;
  };

  await expect(follow()).rejects.toThrow(CompactedError);
});

test("a store that has objects is not restored into, and an unfinished restore is not opened", async () => {
  const { engine } = await filled();
  const used = createMemoryEngine({ isShared: true });
  await used.commit({ key: "/core/configmaps/hub/default/a", expect: "absent", value: Buffer.from("{}") });
  const broken = createMemoryEngine({ isShared: true });
  const { commit } = broken;
  let left = 10;
  broken.commit = async (write) => {
    if (left-- === 0) throw new Error("the process ends here");
    return commit.call(broken, write);
  };

  await expect(restoreInto(used, engine, { ...NOW, revision: 1 })).rejects.toThrow("already has /core/configmaps");
  await expect(restoreInto(broken, engine, { ...NOW, revision: 1 })).rejects.toThrow("the process ends here");
  await expect(openRestored(broken)).rejects.toThrow("did not finish");
});
