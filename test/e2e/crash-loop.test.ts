/**
 * A server that is killed again and again under write load, on one data directory. After each restart: every acknowledged write
 * is there, everything that a reader or a watcher ever saw is there, and a watch that resumes misses nothing, or is told to list again.
 *
 * FLOTILLA_CRASHES sets how often; a few times is enough to notice a mistake, 200 times to trust it.
 */
import { expect, test } from "vitest";
import { ConfigMap, Namespace } from "../../src/api/index.ts";
import { createSeededRandom, sleep, systemClock } from "../../src/base/index.ts";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "../../src/client/index.ts";
import type { Client } from "../../src/client/index.ts";
import { isAlreadyExists, isExpired } from "../../src/machinery/index.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";

const CRASHES = Number(process.env["FLOTILLA_CRASHES"] ?? 4);
const WRITERS = 8;
const MIN_LIFE_MS = 100;
const MAX_LIFE_MS = 400;

/** What the outside knows of the store: names by what was answered, and what watchers were told last. */
interface Knowledge {
  acknowledged: Set<string>;
  seen: Set<string>;
  /** Seen up to `lastVersion`. */
  seenBefore: Set<string>;
  lastVersion: string | undefined;
  next: number;
}

test(`nothing acknowledged or seen is lost by ${CRASHES} crashes`, { timeout: 30_000 + CRASHES * 10_000 }, async () => {
  const directory = temporaryDirectory();
  const random = createSeededRandom(7);
  const known: Knowledge = { acknowledged: new Set(), seen: new Set(), seenBefore: new Set(), lastVersion: undefined, next: 0 };
  let lastExit: number | null | undefined;
  try {
    for (let crash = 0; crash <= CRASHES; crash++) {
      const server = await up(directory.path, "--members", "0");
      const transport = createHttp2Transport({ ...(await connectionOf(await loadKubeconfig(server.kubeconfig("hub")))), cluster: { root: "hub" } });
      const client = createClient({ transport, fieldManager: "test" });
      await ignoringExisting(client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "crash" } }));

      await checkNothingLost(client, known);
      if (crash < CRASHES) await writeUntilKilled(client, known, MIN_LIFE_MS + random.next() * (MAX_LIFE_MS - MIN_LIFE_MS), () => server.stop("SIGKILL"));
      else lastExit = (await server.stop("SIGTERM")).code;
      await transport.close();
    }
    expect(lastExit).toBe(0);
    expect(known.acknowledged.size).toBeGreaterThan(CRASHES);
  } finally {
    directory.remove();
  }
});

async function ignoringExisting(promise: Promise<unknown>): Promise<void> {
  await promise.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function checkNothingLost(client: Client, known: Knowledge): Promise<void> {
  const { items, resourceVersion } = await client.list(ConfigMap, { cluster: "hub", namespace: "crash" });
  const stored = new Set(items.map(({ metadata: { name } }) => name).filter((name) => name.startsWith("w-")));
  expect([...known.acknowledged].filter((name) => !stored.has(name)), "acknowledged and lost").toEqual([]);
  expect([...known.seen].filter((name) => !stored.has(name)), "seen and lost").toEqual([]);

  if (known.lastVersion === undefined) return;
  // Everything after that version must be told again.
  const resumed = new Set(known.seenBefore);
  const done = new AbortController();
  const timer = setTimeout(() => done.abort(), 5000);
  try {
    for await (const events of client.watch(ConfigMap, { cluster: "hub", namespace: "crash", resourceVersion: known.lastVersion, signal: done.signal })) {
      for (const event of events) if (event.type !== "BOOKMARK") resumed.add(event.object.metadata.name);
      if ([...stored].every((name) => resumed.has(name))) break;
    }
  } catch (error) {
    // The history of the dead process is gone: the watcher is told so, and lists again, which the check above did.
    if (isExpired(error)) return;
    if (!done.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
  expect([...stored].filter((name) => !resumed.has(name)), `stored, and missed by a watch from ${known.lastVersion} to ${resourceVersion}`).toEqual([]);
}

async function writeUntilKilled(client: Client, known: Knowledge, lifeMs: number, kill: () => Promise<unknown>): Promise<void> {
  const { items, resourceVersion } = await client.list(ConfigMap, { cluster: "hub", namespace: "crash" });
  for (const { metadata: { name } } of items) if (name.startsWith("w-")) known.seen.add(name);
  known.lastVersion = resourceVersion;
  const stopping = new AbortController();
  const watching = follow(client, known, stopping.signal);
  // What the watcher resumes from is older than what is stored, so that there is something to miss.
  const early = sleep(systemClock, lifeMs / 2).then(() => {
    known.seenBefore = new Set(known.seen);
    return known.lastVersion;
  });
  const writer = async (): Promise<void> => {
    for (;;) {
      const name = `w-${known.next++}`;
      try {
        await client.create(ConfigMap, "hub", { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "crash" }, data: { a: "x".repeat(500) } });
        known.acknowledged.add(name);
      } catch {
        return; // The server is gone: whether this write happened is not known, and it does not count.
      }
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, writer));
  await sleep(systemClock, lifeMs);
  await kill();
  await writers;
  stopping.abort();
  await watching;
  known.lastVersion = await early;
}

async function follow(client: Client, known: Knowledge, signal: AbortSignal): Promise<void> {
  try {
    for await (const events of client.watch(ConfigMap, { cluster: "hub", namespace: "crash", resourceVersion: known.lastVersion ?? "0", signal })) {
      for (const event of events) {
        if (event.type === "BOOKMARK") continue;
        const { name, resourceVersion } = event.object.metadata;
        if (name.startsWith("w-")) known.seen.add(name);
        known.lastVersion = resourceVersion ?? known.lastVersion;
      }
    }
  } catch {
    // The connection broke with the server; what was seen until then counts.
  }
}
