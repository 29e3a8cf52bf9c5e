/**
 * A server that is killed repeatedly under write load, on one data directory, with two watchers that resume after each
 * restart: one sees everything, one selects by a label that objects gain and lose.
 *
 * Over all crashes each matching watcher receives each acknowledged write once, in order; at most the write in flight
 * at the crash is received in addition; no watcher has to list again; and the state that the watchers build from events
 * equals a list, so every emitted event was durable. A client that tries to connect during each start is never rejected:
 * its credentials stay valid.
 *
 * FLOTILLA_CRASHES sets the number of crashes; a few are enough to notice a bug, 200 to be confident.
 */
import { request } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import { createSeededRandom, sleep, systemClock } from "@flotilla/base";
import type { Random } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig, UnreachableError } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { createWitness, NAMESPACE } from "./crash-watcher.ts";
import type { Witness } from "./crash-watcher.ts";
import { serve, temporaryDirectory } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const CRASHES = Number(process.env["FLOTILLA_CRASHES"] ?? 4);
const WRITERS = 8;
const MIN_LIFE_MS = 100;
const MAX_LIFE_MS = 400;
/** A resuming watcher receives the missed events well within this time after a restart. */
const CATCH_UP_MS = 20_000;
/** Short, so that a request arrives as soon as the server accepts connections. */
const RECONNECT_MS = 2;

/**
 * Acknowledged writes, as each watcher has to receive them: `TYPE version`, without the version if the response has
 * none.
 */
interface Acknowledged {
  all: string[];
  selected: string[];
}

test(
  `watches resume and no acknowledged or emitted change is lost over ${CRASHES} crashes`,
  { timeout: 30_000 + CRASHES * 15_000 },
  async () => {
    const directory = temporaryDirectory();
    const random = createSeededRandom(7);
    const writes = new Map<string, Acknowledged>();
    let witnesses: { all: Witness; selected: Witness } | undefined;
    let acknowledged = 0;
    /** Events received from the server process that their writes were sent to. */
    let reported = 0;
    let lastExit: number | null | undefined;
    let port = "0";
    try {
      for (let crash = 0; crash <= CRASHES; crash++) {
        const starting = serve(directory.path, ["up", "--port", port, "--data", directory.path, "--members", "0"]);
        const [server] = await Promise.all([
          starting,
          crash > 0 && connectDuring(starting, join(directory.path, "hub.kubeconfig")),
        ]);
        port = new URL(server.url).port;
        const { transport, client } = await connect(server.kubeconfig("hub"));
        witnesses ??= await startWitnesses(client);
        const stopping = new AbortController();
        const following = Promise.all([
          witnesses.all.follow(client, stopping.signal),
          witnesses.selected.follow(client, stopping.signal),
        ]);

        await Promise.race([
          catchUp(client, witnesses, `life-${crash}`, stopping.signal),
          following.then(() => Promise.reject(new Error("a watch ended while its server ran"))),
        ]);
        checkReported(witnesses, writes);
        await checkState(client, witnesses);
        for (const { all } of writes.values()) acknowledged += all.length;
        writes.clear();

        const before = witnesses.all.count;
        if (crash < CRASHES) await writeUntilKilled(client, writes, crash, random, () => server.stop("SIGKILL"));
        stopping.abort();
        await following;
        reported += witnesses.all.count - before;
        if (crash === CRASHES) lastExit = (await server.stop("SIGTERM")).code;
        await transport.close();
      }
      process.stdout.write(
        `${CRASHES} crashes, ${acknowledged} acknowledged writes, ${witnesses?.all.count} events, ` +
          `${(witnesses?.all.count ?? 0) - reported} of them after a restart\n`,
      );
      expect(lastExit).toBe(0);
      expect(acknowledged).toBeGreaterThan(CRASHES);
    } finally {
      directory.remove();
    }
  },
);

async function connect(kubeconfig: string): Promise<{ transport: Transport; client: Client }> {
  const transport = createHttp2Transport({
    ...(await connectionOf(await loadKubeconfig(kubeconfig))),
    cluster: { root: "hub" },
  });
  return { transport, client: createClient({ transport, fieldManager: "test" }) };
}

/** Connects again and again until the server is ready. Throws if a request is rejected; the server may be unreachable. */
async function connectDuring(starting: Promise<Up>, kubeconfig: string): Promise<void> {
  const { server, ca, token } = await connectionOf(await loadKubeconfig(kubeconfig));
  const bearer = typeof token === "function" ? await token() : token;
  const state = { isReady: false };
  const stop = (): void => void (state.isReady = true);
  starting.then(stop, stop);
  const knock = async (): Promise<void> => {
    while (!state.isReady) {
      const status = await statusOf(new URL("/api/v1/namespaces/default", server), { ca, token: bearer });
      if (status !== 200 && status !== undefined) throw new Error(`a valid token got ${status} during a start`);
      if (status === undefined) await sleep(systemClock, RECONNECT_MS);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, knock));
}

/** The status of the response on a connection of its own; undefined if the server does not answer. */
function statusOf(url: URL, { ca, token }: { ca?: string; token?: string }): Promise<number | undefined> {
  return new Promise((resolve) => {
    request(url, { ca, agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.once("close", () => resolve(response.statusCode));
    })
      .once("error", () => resolve(undefined))
      .end();
  });
}

async function startWitnesses(client: Client): Promise<{ all: Witness; selected: Witness }> {
  await client
    .create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } })
    .catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  const { items, resourceVersion } = await client.list(ConfigMap, { cluster: "hub", namespace: NAMESPACE });
  return { all: createWitness(resourceVersion, items), selected: createWitness(resourceVersion, [], "phase=on") };
}

/** The last write matches both watchers, so receiving it means that they have received everything. */
async function catchUp(
  client: Client,
  { all, selected }: { all: Witness; selected: Witness },
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = await client.create(ConfigMap, "hub", makeConfigMap(name, "on"));
  const version = Number(metadata.resourceVersion);
  const late = sleep(systemClock, CATCH_UP_MS, signal).then(() =>
    Promise.reject(new Error(`a watch did not come to version ${version} within ${CATCH_UP_MS} ms`)),
  );
  await Promise.race([Promise.all([all.reached(version), selected.reached(version)]), late]);
}

function checkReported(
  witnesses: { all: Witness; selected: Witness },
  writes: ReadonlyMap<string, Acknowledged>,
): void {
  for (const [name, answered] of writes) {
    for (const view of ["all", "selected"] as const) {
      const events = witnesses[view].take(name);
      // The response to a deletion has no resourceVersion.
      const inShort = events.map((event, index) =>
        answered[view][index] === "DELETED" ? (event.split(" ")[0] ?? "") : event,
      );
      expect(inShort.slice(0, answered[view].length), `${name}, as sent to the watch of ${view}`).toEqual(
        answered[view],
      );
      expect(events.length, `${name}: only the write that was not answered is sent in addition`).toBeLessThanOrEqual(
        answered[view].length + 1,
      );
    }
  }
}

async function checkState(client: Client, { all, selected }: { all: Witness; selected: Witness }): Promise<void> {
  const listed = await client.list(ConfigMap, { cluster: "hub", namespace: NAMESPACE });
  const items = listed.items.filter(isOurs);
  const matching = items.filter(({ metadata }) => metadata.labels?.phase === "on");
  const stateOf = (objects: typeof items): [string, number][] =>
    objects.map(({ metadata }): [string, number] => [metadata.name, Number(metadata.resourceVersion)]).sort(byName);
  expect([...all.state].filter(([name]) => isOurs({ metadata: { name } })).sort(byName)).toEqual(stateOf(items));
  expect([...selected.state].sort(byName)).toEqual(stateOf(matching));
}

/** The server asynchronously writes its own ConfigMap into every namespace. */
const isOurs = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name !== "kube-root-ca.crt";

const byName = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

const makeConfigMap = (name: string, phase: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE, labels: { phase } },
  data: { a: "x".repeat(500) },
});

async function writeUntilKilled(
  client: Client,
  writes: Map<string, Acknowledged>,
  life: number,
  random: Random,
  kill: () => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (;;) {
      const number = next++;
      const answered: Acknowledged = { all: [], selected: [] };
      const name = `w-${life}-${number}`;
      writes.set(name, answered);
      try {
        await writeOne(client, name, number, answered);
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        return; // The server crashed: whether this write happened is unknown.
      }
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, writer));
  await Promise.race([writers, sleep(systemClock, MIN_LIFE_MS + random.next() * (MAX_LIFE_MS - MIN_LIFE_MS))]);
  await kill();
  await writers;
}

/** The lifecycle of one object. Every second one stops matching the selector, and one of seven stays. */
async function writeOne(client: Client, name: string, number: number, answered: Acknowledged): Promise<void> {
  const phase = number % 2 === 0 ? "on" : "off";
  const created = await client.create(ConfigMap, "hub", makeConfigMap(name, "on"));
  answered.all.push(`ADDED ${created.metadata.resourceVersion}`);
  answered.selected.push(`ADDED ${created.metadata.resourceVersion}`);

  const updated = await client.update(ConfigMap, "hub", { ...makeConfigMap(name, phase), data: { b: "y" } });
  answered.all.push(`MODIFIED ${updated.metadata.resourceVersion}`);
  answered.selected.push(`${phase === "on" ? "MODIFIED" : "DELETED"} ${updated.metadata.resourceVersion}`);

  if (number % 7 === 0) return;
  await client.delete(ConfigMap, { cluster: "hub", namespace: NAMESPACE, name });
  answered.all.push("DELETED");
  if (phase === "on") answered.selected.push("DELETED");
}
