/** Watches: order, selection, bookmarks and streaming lists. */
import { expect, test } from "vitest";
import { makeConfigMap, makePod, pods } from "./objects.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";
import type { WatchEvent } from "../../programs/event-stream.ts";
import type { Body } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

contract("watch", (subject) => {
  const create = async (
    name: string,
    labels: Record<string, string> = {},
    data: Record<string, string> = {},
  ): Promise<Body> => (await subject.api.create(CONFIG_MAPS, makeConfigMap(name, data, { labels }))).body;
  const relabel = async (name: string, labels: Record<string, string | null>): Promise<Body> =>
    (await subject.api.patch("merge", `${CONFIG_MAPS}/${name}`, { metadata: { labels } })).body;
  const version = async (): Promise<string> => (await subject.api.get(CONFIG_MAPS)).body.metadata.resourceVersion;
  const brief = ({ type, object }: WatchEvent): string => `${type} ${object.metadata.name}`;

  const refused: Record<string, string> = {
    "sendInitialEvents without resourceVersionMatch": "sendInitialEvents=true",
    "resourceVersionMatch without sendInitialEvents": "resourceVersionMatch=NotOlderThan&resourceVersion=1",
    "sendInitialEvents with match Exact": "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1",
  };
  for (const [what, query] of Object.entries(refused)) {
    test(`a watch with ${what} is rejected with 422`, async () => {
      const { status, body } = await subject.api.get(`${CONFIG_MAPS}?watch=1&${query}`);

      expect([status, body.reason]).toEqual([422, "Invalid"]);
    });
  }

  test("a watch from a resourceVersion that is not a number returns an internal error", async () => {
    expect((await subject.api.get(`${CONFIG_MAPS}?watch=1&resourceVersion=abc&timeoutSeconds=1`)).status).toBe(500);
  });

  test("any value of ?watch but 0 and false starts a watch", async () => {
    const isList = async (value: string): Promise<boolean> =>
      (
        await subject.api.get(
          `${CONFIG_MAPS}?watch=${value}&timeoutSeconds=1&labelSelector=there=none&resourceVersion=${await version()}`,
        )
      ).text.includes('"ConfigMapList"');

    expect(await Promise.all(["true", "1", "", "yes"].map(isList))).toEqual([false, false, false, false]);
    expect(await Promise.all(["0", "false", "False"].map(isList))).toEqual([true, true, true]);
  });

  test("each change is one event, and a deletion contains the last state at the resourceVersion of the deletion", async () => {
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=stream`);
    const created = await create("stream", { case: "stream" }, { a: "1" });
    const changed = (await subject.api.patch("merge", `${CONFIG_MAPS}/stream`, { data: { a: "2" } })).body;
    await subject.api.delete(`${CONFIG_MAPS}/stream`);

    const [added, modified, deleted] = await watch.take(3);

    watch.close();
    expect(watch.headers["content-type"]).toBe("application/json");
    expect(added).toMatchObject({
      type: "ADDED",
      object: {
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { resourceVersion: created.metadata.resourceVersion },
        data: { a: "1" },
      },
    });
    expect(modified).toMatchObject({
      type: "MODIFIED",
      object: { metadata: { resourceVersion: changed.metadata.resourceVersion }, data: { a: "2" } },
    });
    expect(deleted).toMatchObject({ type: "DELETED", object: { data: { a: "2" } } });
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  });

  test("an object that starts to match is ADDED; one that stops is DELETED with its former state and the new resourceVersion", async () => {
    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&labelSelector=phase=in&resourceVersion=${await version()}`,
    );
    await create("moves", { phase: "out" });
    await relabel("moves", { phase: "in" });
    await relabel("moves", { phase: "in", other: "label" });
    const left = await relabel("moves", { phase: "out" });
    await relabel("moves", { other: null });
    await relabel("moves", { phase: "in" });

    const events = await watch.take(4);

    watch.close();
    expect(events.map(brief)).toEqual(["ADDED moves", "MODIFIED moves", "DELETED moves", "ADDED moves"]);
    expect(events[2]?.object.metadata).toMatchObject({
      labels: { phase: "in", other: "label" },
      resourceVersion: left.metadata.resourceVersion,
    });
  });

  test("field selectors produce ADDED and DELETED like label selectors", async () => {
    const watch = await subject.api.watch(`${pods(NAMESPACE)}?watch=1&fieldSelector=status.phase=Running`);
    await subject.api.create(pods(NAMESPACE), makePod("phased"));
    const phase = (value: string): Promise<unknown> =>
      subject.api.patch("merge", `${pods(NAMESPACE)}/phased/status`, { status: { phase: value } });
    await phase("Running");
    await phase("Succeeded");

    expect((await watch.take(2)).map(brief)).toEqual(["ADDED phased", "DELETED phased"]);
    watch.close();
  });

  test("all watchers see the same order, and nothing is lost between a list and the watch from its resourceVersion", async () => {
    const from = await version();
    const watches = await Promise.all(
      [0, 1, 2].map(() => subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=order&resourceVersion=${from}`)),
    );
    await Promise.all(Array.from({ length: 20 }, (_, index) => create(`order-${index}`, { case: "order" })));

    const seen = await Promise.all(
      watches.map(async (watch) => (await watch.take(20)).map(({ object }) => Number(object.metadata.resourceVersion))),
    );
    const late = await subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=order&resourceVersion=${from}`);
    const replayed = (await late.take(20)).map(({ object }) => Number(object.metadata.resourceVersion));

    for (const watch of [...watches, late]) watch.close();
    expect(seen[0]).toEqual(seen[0]?.toSorted((a, b) => a - b));
    expect([seen[1], seen[2], replayed]).toEqual([seen[0], seen[0], seen[0]]);
  });

  test("a watch from an event's resourceVersion continues after it", async () => {
    const first = await create("resume-a", { case: "resume" });
    await create("resume-b", { case: "resume" });

    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&labelSelector=case=resume&resourceVersion=${first.metadata.resourceVersion}`,
    );

    expect(brief(await watch.next())).toBe("ADDED resume-b");
    watch.close();
  });

  test("a watch with allowWatchBookmarks gets a bookmark before its timeout, with only a resourceVersion", async () => {
    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=5&labelSelector=there=none&resourceVersion=${await version()}`,
    );
    await create("unselected");

    const [bookmark] = await watch.rest();

    expect(bookmark).toMatchObject({ type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1" } });
    expect(
      Object.keys(bookmark?.object ?? {}).filter((key) => !["kind", "apiVersion", "metadata"].includes(key)),
    ).toEqual([]);
    expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThan(0);
  });

  test("a streaming list is ADDED events ordered by name, an annotated bookmark, and then changes", async () => {
    for (const name of ["stream-b", "stream-c", "stream-a"]) await create(name, { case: "streaming" });
    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&labelSelector=case=streaming&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );

    const initial = await watch.take(4);
    await create("stream-d", { case: "streaming" });
    const next = await watch.next();

    watch.close();
    expect(initial.slice(0, 3).map(brief)).toEqual(["ADDED stream-a", "ADDED stream-b", "ADDED stream-c"]);
    expect(initial[3]).toMatchObject({
      type: "BOOKMARK",
      object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
    expect(Number(initial[3]?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Math.max(...initial.slice(0, 3).map(({ object }) => Number(object.metadata.resourceVersion))),
    );
    expect(brief(next)).toBe("ADDED stream-d");
  });

  test("a streaming list without bookmarks has no end marker", async () => {
    await create("unmarked-a", { case: "unmarked" });
    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&labelSelector=case=unmarked&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    await watch.next();
    await create("unmarked-b", { case: "unmarked" });

    expect(brief(await watch.next())).toBe("ADDED unmarked-b");
    watch.close();
  });

  test("a watch without a resourceVersion starts with the existing objects, and marks their end if bookmarks are allowed", async () => {
    await create("present", { case: "present" });
    const plain = await subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=present`);
    const marked = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&labelSelector=case=present&allowWatchBookmarks=true`,
    );

    expect(brief(await plain.next())).toBe("ADDED present");
    expect(
      (await marked.take(2)).map(
        ({ type, object }) => `${type} ${object.metadata.annotations?.["k8s.io/initial-events-end"] ?? ""}`,
      ),
    ).toEqual(["ADDED ", "BOOKMARK true"]);
    plain.close();
    marked.close();
  });

  test("timeoutSeconds ends a watch without an error", async () => {
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=${await version()}`);

    expect(await watch.rest()).toEqual([]);
  });

  test("a watcher that does not read blocks neither writers nor other watchers", async () => {
    const slow = subject.connect(undefined, "http/1.1");
    const blocked = await slow.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=flood`);
    blocked.pause();
    const reading = await subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=case=flood`);
    const payload = "x".repeat(100_000);

    for (let index = 0; index < 60; index++) await create(`flood-${index}`, { case: "flood" }, { payload });

    expect(await reading.take(60)).toHaveLength(60);
    reading.close();
    blocked.close();
  });

  test("a watch of one name only sees that object, also as kubectl wait requests it", async () => {
    await create("single");
    await create("neighbour");
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dsingle`);
    await relabel("neighbour", { a: "b" });
    await subject.api.delete(`${CONFIG_MAPS}/single`);

    expect((await watch.take(2)).map(brief)).toEqual(["ADDED single", "DELETED single"]);
    watch.close();
  });

  test("a kind is watched in all namespaces at once", async () => {
    const watch = await subject.api.watch(`/api/v1/configmaps?watch=1&labelSelector=case=everywhere`);
    await create("everywhere", { case: "everywhere" });
    await subject.api.create(
      "/api/v1/namespaces/default/configmaps",
      makeConfigMap("everywhere", {}, { labels: { case: "everywhere" } }),
    );

    expect((await watch.take(2)).map(({ object }) => object.metadata.namespace)).toEqual([NAMESPACE, "default"]);
    watch.close();
  });
});
