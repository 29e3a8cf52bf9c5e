import { createFakeClock, silentLog } from "@flotilla/base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bodyOf } from "../request/byte-streams.ts";
import type { ApiRequest } from "../request/request.ts";
import type { Engine } from "../store/engine.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createReplication } from "./replication.ts";
import type { ReplicationAction } from "./replication.ts";
import type { ReplicationLine } from "./replication-lines.ts";
import { guardSuccession, readSuccessor, SupersededError, writeTerm } from "./succession.ts";
import type { Successor } from "./succession.ts";

const put = (key: string, text: string) => ({ key, expect: "any", value: Buffer.from(text) }) as const;

interface World {
  engine: Engine;
  /** Of the hub: guarded. */
  hub: Engine;
  ended: Successor[];
  ask(action: ReplicationAction, query?: string): Promise<{ status: number; body: AsyncGenerator<ReplicationLine> }>;
  close(): void;
}

const HUBS = { group: "example.com", resource: "hubs" };

function makeWorld(): World {
  const engine = createMemoryEngine();
  const ended: Successor[] = [];
  const stop = new AbortController();
  const onSuperseded = (successor: Successor): void => void ended.push(successor);
  const replication = createReplication({
    engine,
    clock: createFakeClock(),
    log: silentLog,
    resource: HUBS,
    onSuperseded,
  });
  return {
    engine,
    hub: guardSuccession(engine, onSuperseded),
    ended,
    async ask(action, query = "") {
      const request = {
        method: "POST",
        query: new URLSearchParams(query),
        user: { name: "standby", groups: [] },
        signal: stop.signal,
      } as unknown as ApiRequest;
      const { status, body } = await replication.respond(request, action);
      return { status, body: linesOf(bodyOf(body, stop.signal)) };
    },
    close: () => stop.abort(),
  };
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReplicationLine> {
  for await (const chunk of chunks)
    for (const line of Buffer.from(chunk).toString().trim().split("\n")) yield JSON.parse(line) as ReplicationLine;
}

async function take(lines: AsyncGenerator<ReplicationLine>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { value, done } = await lines.next();
    if (done) break;
    found.push(textOf(value));
  }
  return found;
}

function textOf(line: ReplicationLine): string {
  if (line.type === "CHANGE")
    return `${line.key}@${line.revision}=${line.value === null ? "-" : Buffer.from(line.value, "base64").toString()}`;
  if (line.type === "ALIVE") return "ALIVE";
  return `${line.type} ${line.type === "REVISION" ? line.revision : line.term}`;
}

let world: World;
beforeEach(() => void (world = makeWorld()));
afterEach(() => world.close());

describe("a standby", () => {
  test("following a hub is a POST: roles of auditors permit get on all paths", async () => {
    const replication = createReplication({
      engine: world.engine,
      clock: createFakeClock(),
      log: silentLog,
      resource: HUBS,
      onSuperseded: () => {},
    });

    for (const action of ["changes", "step-down"] as const)
      await expect(
        replication.respond({ method: "GET", query: new URLSearchParams() } as unknown as ApiRequest, action),
      ).rejects.toMatchObject({ status: { code: 405 } });
  });

  test("gets everything, and then every change", async () => {
    await world.hub.commit(put("/a", "1"));
    await world.hub.commit(put("/b", "2"));

    const { body } = await world.ask("changes");
    const copied = await take(body, 4);
    await world.hub.commit({ key: "/a", expect: "any", value: null });

    expect(copied).toEqual(["COPY 1", "/a@1=1", "/b@2=2", "REVISION 2"]);
    expect(await take(body, 2)).toEqual(["/a@3=-", "REVISION 3"]);
  });

  test("continues after the revision that it has", async () => {
    for (const text of ["1", "2", "3"]) await world.hub.commit(put("/a", text));

    const { body } = await world.ask("changes", "after=2");

    expect(await take(body, 4)).toEqual(["CONTINUE 1", "REVISION 2", "/a@3=3", "REVISION 3"]);
  });

  test("gets everything again when its revision was compacted, or is of another store", async () => {
    for (const text of ["1", "2", "3"]) await world.hub.commit(put("/a", text));
    await world.engine.compact(2);

    const compacted = await world.ask("changes", "after=1");
    const foreign = await world.ask("changes", "after=1000");

    expect(await take(compacted.body, 3)).toEqual(["COPY 1", "/a@3=3", "REVISION 3"]);
    expect(await take(foreign.body, 1)).toEqual(["COPY 1"]);
  });

  test("does not get the succession of the hub", async () => {
    await writeTerm(world.engine, 4);
    await world.hub.commit(put("/a", "1"));

    const { body } = await world.ask("changes");

    expect(await take(body, 3)).toEqual(["COPY 4", "/a@2=1", "REVISION 2"]);
  });
});

describe("stepping down", () => {
  test("ends all writes, and returns what the standby lacks", async () => {
    for (const text of ["1", "2", "3"]) await world.hub.commit(put("/a", text));

    const { body } = await world.ask("step-down", "term=2&name=oslo&after=1");

    expect(await take(body, 9)).toEqual(["/a@2=2", "/a@3=3", "REVISION 4"]);
    expect(world.ended.map(({ name }) => name)).toEqual(["oslo"]);
    await expect(world.hub.commit(put("/b", "late"))).rejects.toThrow(SupersededError);
    await expect(world.hub.commit({ key: "/a", expect: 3, value: null })).rejects.toThrow("replaced by oslo (term 2");
    expect(await world.engine.revision()).toBe(4);
  });

  test("is decided once: a second standby is refused, and the first may ask again", async () => {
    await world.ask("step-down", "term=2&name=oslo");

    await expect(world.ask("step-down", "term=2&name=paris")).rejects.toThrow("already replaced by oslo");
    expect((await world.ask("step-down", "term=2&name=oslo")).status).toBe(200);
    expect(await readSuccessor(world.engine)).toMatchObject({ name: "oslo", term: 2 });
  });

  test("is refused for a term that is not higher: a hub does not end itself at an address that it took over", async () => {
    await writeTerm(world.engine, 2);

    await expect(world.ask("step-down", "term=2&name=oslo")).rejects.toThrow("this hub has term 2");
    expect((await world.hub.commit(put("/a", "1"))).ok).toBe(true);
  });

  test("is refused when the standby is too far behind, and nothing is ended", async () => {
    for (const text of ["1", "2", "3"]) await world.hub.commit(put("/a", text));
    await world.engine.compact(3);

    await expect(world.ask("step-down", "term=2&name=oslo&after=1")).rejects.toThrow("too far behind");
    expect((await world.hub.commit(put("/a", "4"))).ok).toBe(true);
  });

  test.each(["", "term=2", "name=oslo", "term=x&name=oslo", `term=2&name=${"x".repeat(201)}`])(
    "rejects the query '%s'",
    async (query) => {
      await expect(world.ask("step-down", query)).rejects.toThrow(/required|number/);
    },
  );
});

test("a write that fails for its own guard fails as without a succession", async () => {
  await world.hub.commit(put("/a", "1"));

  const outcome = await world.hub.commit({ ...put("/b", "2"), guards: [{ key: "/a", expect: "absent" }] });

  expect(outcome).toMatchObject({ ok: false, failedGuard: "/a" });
});
