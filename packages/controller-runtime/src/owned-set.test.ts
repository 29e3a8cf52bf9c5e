import { describe, expect, test } from "vitest";
import { dynamicKind, forbidden, inVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createOwnedSet, OwnedSetError } from "./owned-set.ts";

interface Part extends KubernetesObject {
  spec?: { size?: string; color?: string };
  status?: { ready?: boolean };
}
const parts = { group: "example.dev", resource: "parts" };
const Part = inVersion<Part>(
  dynamicKind({ group: "example.dev", version: "v1", kind: "Part", plural: "parts", scope: "Namespaced" }),
  "v1",
);
const { signal } = new AbortController();
const owner = "web";

function makePart(name: string, spec: Part["spec"] = {}): Part {
  return { apiVersion: "example.dev/v1", kind: "Part", metadata: { name, namespace: "shop", labels: { owner } }, spec };
}
const keyOf = (name: string) => ({ cluster: "hub", namespace: "shop", name });

/** A set whose view is the server's state, or an older one. */
async function setUp(...present: Part[]) {
  const client = createFakeClient();
  for (const part of present) await client.create(Part, "hub", part);
  const view: { parts: readonly DeepReadonly<Part>[] } = { parts: [] };
  const look = async (): Promise<void> => {
    const { items } = await client.list(Part, { cluster: "hub" });
    view.parts = items.filter(({ metadata }) => metadata.labels?.owner === owner);
  };
  await look();
  const set = createOwnedSet<Part, string>({ client, kind: Part, clusterOf: () => "hub", current: () => view.parts });
  const writes = (): string[] =>
    client.writes.slice(present.length).map(({ verb, id }) => `${verb} ${id.split("/")[2]}`);
  return { client, set, look, view, writes };
}

test("missing objects are created, different ones updated, extra ones deleted, and correct ones left unchanged", async () => {
  const { set, writes } = await setUp(
    makePart("right", { size: "1" }),
    makePart("differs", { size: "1" }),
    makePart("left-over"),
  );

  const changes = await set.replace(
    owner,
    [makePart("right", { size: "1" }), makePart("differs", { size: "2" }), makePart("missing")],
    signal,
  );

  expect(changes).toEqual({ created: 1, updated: 1, deleted: 1 });
  expect(writes().toSorted()).toEqual(["create missing", "delete left-over", "update differs"]);
});

test("repeating it writes nothing", async () => {
  const { set, look, writes } = await setUp();
  const desired = [makePart("a", { size: "1" }), makePart("b")];
  await set.replace(owner, desired, signal);
  await look();

  const changes = await set.replace(owner, desired, signal);

  expect(changes).toEqual({ created: 0, updated: 0, deleted: 0 });
  expect(writes()).toEqual(["create a", "create b"]);
});

describe("an update", () => {
  test("removes undesired contents of a stated field, and keeps the status and others' labels and annotations", async () => {
    const { client, set, look } = await setUp(makePart("a", { size: "1", color: "red" }));
    await client.patch(
      Part,
      keyOf("a"),
      { metadata: { labels: { theirs: "yes" }, finalizers: ["example.dev/theirs"] } },
      { type: "merge" },
    );
    await client.patch(Part, keyOf("a"), { status: { ready: true } }, { type: "merge", subresource: "status" });
    await look();

    await set.replace(owner, [makePart("a", { size: "1" })], signal);

    expect(await client.get(Part, keyOf("a"))).toMatchObject({
      metadata: { labels: { owner, theirs: "yes" }, finalizers: ["example.dev/theirs"] },
      status: { ready: true },
    });
    expect((await client.get(Part, keyOf("a"))).spec).toEqual({ size: "1" });
  });

  test("an update of a concurrently changed object is retried on the newest version", async () => {
    const { client, set, writes } = await setUp(makePart("a", { size: "1" }));
    await client.patch(Part, keyOf("a"), { metadata: { labels: { theirs: "yes" } } }, { type: "merge" });

    const changes = await set.replace(owner, [makePart("a", { size: "2" })], signal);

    expect(changes.updated).toBe(1);
    expect(writes()).toEqual(["patch a", "update a"]);
    expect((await client.get(Part, keyOf("a"))).metadata.labels).toEqual({ owner, theirs: "yes" });
  });

  test("is not repeated when the server fills in defaults", async () => {
    const { client, view, look, writes } = await setUp();
    const create: Client["create"] = (kind, cluster, object, options) =>
      client.create(kind, cluster, { ...object, spec: { size: "1", color: "grey" } }, options);
    const set = createOwnedSet<Part, string>({
      client: { ...client, create },
      kind: Part,
      clusterOf: () => "hub",
      current: () => view.parts,
    });
    await set.replace(owner, [makePart("a", { size: "1" })], signal);
    await look();

    const changes = await set.replace(owner, [makePart("a", { size: "1" })], signal);

    expect(changes.updated).toBe(0);
    expect(writes()).toEqual(["create a"]);
  });
});

describe("an existing object of the same name", () => {
  test("an existing object of the same name that is our own but not seen yet is updated to the desired state", async () => {
    const { client, set, view } = await setUp(makePart("a", { size: "1" }));
    view.parts = [];

    const changes = await set.replace(owner, [makePart("a", { size: "2" })], signal);

    expect(changes).toEqual({ created: 0, updated: 1, deleted: 0 });
    expect((await client.get(Part, keyOf("a"))).spec).toEqual({ size: "2" });
  });

  test("an existing object of the same name that belongs to another owner is not changed", async () => {
    const foreign = {
      ...makePart("a", { size: "1" }),
      metadata: { name: "a", namespace: "shop", labels: { owner: "other" } },
    };
    const { client, set } = await setUp(foreign);

    await expect(set.replace(owner, [makePart("a", { size: "2" })], signal)).rejects.toThrow(
      'parts.example.dev "a" already exists',
    );

    expect((await client.get(Part, keyOf("a"))).spec).toEqual({ size: "1" });
  });

  test("an existing object of the same name that is being deleted is left alone", async () => {
    const held = { ...makePart("a"), metadata: { ...makePart("a").metadata, finalizers: ["example.dev/theirs"] } };
    const { client, set, look, writes } = await setUp(held);
    await client.delete(Part, keyOf("a"));
    await look();

    await set.replace(owner, [], signal);
    await set.replace(owner, [makePart("a", { size: "2" })], signal);

    expect(writes()).toEqual(["delete a"]);
  });

  test("an existing object of the same name that was recreated is not deleted in place of the old one", async () => {
    const { client, set, writes } = await setUp(makePart("a"));
    await client.delete(Part, keyOf("a"));
    await client.create(Part, "hub", makePart("a"));

    await expect(set.replace(owner, [], signal)).rejects.toThrow(OwnedSetError);

    expect(writes()).toEqual(["delete a", "create a"]);
  });
});

test("every item is attempted before it fails, and the error names the failed ones", async () => {
  const { client, set, writes } = await setUp();
  client.failNext("create", forbidden(parts, "a", "not allowed"));

  const failure = await set
    .replace(owner, [makePart("a"), makePart("b"), makePart("c")], signal)
    .catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(OwnedSetError);
  expect((failure as OwnedSetError).message).toContain("1 of 3 writes");
  expect((failure as OwnedSetError).failed.length).toBe(1);
  expect(writes()).toEqual(["create b", "create c"]);
});

test("an aborted signal ends it", async () => {
  const { set, writes } = await setUp();

  await expect(set.replace(owner, [makePart("a")], AbortSignal.abort(new Error("stopping")))).rejects.toThrow(
    "stopping",
  );

  expect(writes()).toEqual([]);
});
