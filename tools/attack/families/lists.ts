/** Long lists and many watches, read and unread (A7 and its neighbours in section 7). */
import { once } from "node:events";
import type http2 from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { countStatuses, statusOf, verdictOf, type Attack } from "../attack.ts";
import { must, type Account, type World } from "../world.ts";

const PARALLEL_CREATES = 16;

/** A namespace with many ConfigMaps, kept for all attacks of the family. */
interface Filled {
  account: Account;
  path: string;
  count: number;
}
const filled = new WeakMap<World["admin"], Promise<Filled>>();
function fill(world: World): Promise<Filled> {
  let known = filled.get(world.admin);
  if (!known) filled.set(world.admin, (known = createMany(world)));
  return known;
}

async function createMany(world: World): Promise<Filled> {
  const count = world.isShort ? 500 : 20_000;
  const namespace = await world.namespace("many");
  const account = await world.account({ role: "edit", namespace });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const text = "x".repeat(700);
  let next = 0;
  await Promise.all(
    Array.from({ length: PARALLEL_CREATES }, async () => {
      while (next < count) await must(world.admin.create(path, { metadata: { name: `c${next++}` }, data: { text } }));
    }),
  );
  return { account, path, count };
}

const prepare: Attack = {
  name: "lists/creating-many",
  claim: "one user who creates thousands of objects delays no other client",
  short: true,
  async run(world) {
    const creating = createMany(world);
    filled.set(world.admin, creating);
    const { count } = await creating;
    return verdictOf(`${count} ConfigMaps, ${PARALLEL_CREATES} at a time`, [], "all created");
  },
};

/** Lists at once, in a representation. */
const readLists = (name: string, claim: string, accept: string, full: number): Attack => ({
  name: `lists/${name}`,
  claim,
  short: true,
  async run(world) {
    const { account, path } = await fill(world);
    const parallel = world.isShort ? 5 : full;
    const statuses = await Promise.all(
      Array.from({ length: parallel }, async () => {
        const api = world.api({ token: account.token }, { http1: true });
        return statusOf(api.get(path, { accept }));
      }),
    );
    const odd = statuses.filter((status) => ![200, 406, 429, 504].includes(status));
    return verdictOf(`${parallel} lists at once`, odd.length > 0 ? [countStatuses(odd)] : [], countStatuses(statuses));
  },
});

const unread: Attack = {
  name: "lists/unread",
  claim: "200 lists that are not read cost neither memory nor other clients (A7)",
  short: true,
  async run(world) {
    const { account, path } = await fill(world);
    const count = world.isShort ? 20 : 200;
    const sockets = await Promise.all(Array.from({ length: count }, () => world.socket()));
    for (const socket of sockets) {
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${account.token}\r\n\r\n`);
    }
    await delay(world.isShort ? 1_000 : 10_000);
    return verdictOf(
      `${count} lists, 10 s`,
      [],
      `${sockets.filter(({ destroyed }) => !destroyed).length} connections still open`,
    );
  },
};

/** Watches that are read, or not, while objects change. */
const watches = (name: string, claim: string, { full, isRead }: { full: number; isRead: boolean }): Attack => ({
  name: `lists/${name}`,
  claim,
  short: true,
  async run(world) {
    const { account, path } = await fill(world);
    const count = world.isShort ? 50 : full;
    const session = await world.session();
    const writer = world.api({ token: account.token });
    let events = 0;
    const streams = Array.from({ length: count }, () =>
      watch(session, `${path}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dc0`, account.token),
    );
    await Promise.all(streams.map((stream) => Promise.race([once(stream, "response"), once(stream, "close")])));
    for (const stream of streams) if (isRead) stream.on("data", (chunk: Buffer) => (events += chunk.length));
    const statuses: number[] = [];
    for (let round = 0; round < (world.isShort ? 10 : 60); round++)
      statuses.push(
        await statusOf(writer.patch("merge", `${path}/c0`, { data: { text: `${round}`.padEnd(2_000, "x") } })),
      );
    await delay(500);
    const odd = statuses.filter((status) => status !== 200);
    return verdictOf(
      `${count} watches of one object ${isRead ? "that are read" : "that are not read"}, ${statuses.length} changes`,
      odd.length > 0 ? [countStatuses(odd)] : [],
      isRead ? `${Math.round(events / 1e6)} MB of events read` : countStatuses(statuses),
    );
  },
});

function watch(session: http2.ClientHttp2Session, path: string, token: string): http2.ClientHttp2Stream {
  const stream = session.request({ ":path": path, authorization: `Bearer ${token}` });
  stream.on("error", () => stream.destroy());
  return stream;
}

const endlessChanges: Attack = {
  name: "lists/endless-changes",
  claim: "one user who changes one object without end, 64 requests at a time, delays no other client",
  short: true,
  async run(world) {
    const { api, namespace } = await world.account({ role: "edit" });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await must(api.create(path, { metadata: { name: "own" } }));
    const end = performance.now() + (world.isShort ? 1_500 : 10_000);
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (performance.now() < end)
          statuses.push(await statusOf(api.patch("merge", `${path}/own`, { data: { at: `${statuses.length}` } })));
      }),
    );
    const odd = statuses.filter((status) => ![200, 409, 429].includes(status));
    return verdictOf(
      "changes of one object, 64 at a time",
      odd.length > 0 ? [countStatuses(odd)] : [],
      countStatuses(statuses),
    );
  },
};

const managers: Attack = {
  name: "lists/managed-fields",
  claim: "an object has a bounded number of managedFields entries",
  async run(world) {
    const { api, namespace } = await world.account({ role: "edit" });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await must(api.create(path, { metadata: { name: "own" } }));
    const count = world.isShort ? 1_200 : 3_000;
    const statuses: number[] = [];
    for (let index = 0; index < count && statuses.at(-1) !== 422; index++)
      statuses.push(
        await statusOf(
          api.request("PATCH", `${path}/own?fieldManager=m${index}`, {
            body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "own" }, data: { [`k${index}`]: "v" } },
            headers: { "content-type": "application/apply-patch+yaml" },
          }),
        ),
      );
    const { metadata } = (await api.get(`${path}/own`)).body;
    const entries = metadata.managedFields?.length ?? 0;
    return verdictOf(
      `applies by up to ${count} field managers`,
      entries > MAX_MANAGERS ? [`${entries} entries`] : [],
      `${entries} entries; ${countStatuses(statuses)}`,
    );
  },
};
const MAX_MANAGERS = 1_000;

export const lists: readonly Attack[] = [
  prepare,
  readLists("json", "200 lists of 20,000 objects at once delay no other client (A7)", "application/json", 200),
  readLists("yaml", "lists as YAML delay no other client", "application/yaml", 5),
  readLists("table", "lists as tables delay no other client", "application/json;as=Table;v=v1;g=meta.k8s.io", 20),
  readLists(
    "metadata",
    "lists of metadata delay no other client",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    20,
  ),
  unread,
  watches("watches", "1,000 watches of one object delay no other client", { full: 1_000, isRead: true }),
  watches("unread-watches", "500 watches that are not read delay no other client", { full: 500, isRead: false }),
  endlessChanges,
  managers,
];
