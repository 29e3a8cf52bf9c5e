/**
 * The contract of every client, independent of its transport: `client.test.ts` runs it for each transport, and it can
 * run against a real Kubernetes API server, since it only uses features of Kubernetes.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, WatchEvent, WatchOptions } from "@flotilla/client";
import { isAlreadyExists, isConflict, isExpired, isInvalid, isNotFound } from "@flotilla/apimachinery";

export interface OpenedClient {
  client: Client;
  /** The cluster to use; it may be filled with test objects. */
  cluster: string;
  cleanup(): Promise<void>;
}

export function describeClient(name: string, open: () => Promise<OpenedClient>): void {
  describe(`client over ${name}`, () => {
    let opened: OpenedClient;
    let client: Client;
    let cluster: string;
    let namespace: string;
    let sequence = 0;
    let stopWatches: AbortController;
    beforeAll(async () => {
      opened = await open();
      ({ client, cluster } = opened);
    });
    afterAll(() => opened.cleanup());
    beforeEach(async () => {
      namespace = `contract-${++sequence}`;
      stopWatches = new AbortController();
      await client.create(Namespace, cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    });
    afterEach(() => stopWatches.abort());

    const makeMap = (name: string, data: Record<string, string> = {}, labels?: Record<string, string>): ConfigMap => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels },
      data,
    });
    const makeDeployment = (name: string, replicas?: number): Deployment => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [
              { name: "main", image: "nginx:1" },
              { name: "side", image: "envoy:1" },
            ],
          },
        },
      },
    });
    const keyOf = (name: string): { cluster: string; namespace: string; name: string } => ({
      cluster,
      namespace,
      name,
    });
    const create = (...args: Parameters<typeof makeMap>): Promise<DeepReadonly<ConfigMap>> =>
      client.create(ConfigMap, cluster, makeMap(...args));
    const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );
    const versionOf = (object: DeepReadonly<KubernetesObject>): string => object.metadata.resourceVersion ?? "";

    /** Reads a watch until `enough`, then stops it. */
    async function watchUntil<T extends KubernetesObject>(
      kind: Kind<T>,
      options: Partial<WatchOptions>,
      enough: (events: WatchEvent<T>[]) => boolean,
    ): Promise<WatchEvent<T>[]> {
      const seen: WatchEvent<T>[] = [];
      for await (const events of client.watch(kind, { cluster, namespace, signal: stopWatches.signal, ...options })) {
        seen.push(...events);
        if (enough(seen)) break;
      }
      return seen;
    }
    const summary = (events: WatchEvent<ConfigMap>[]): string[] =>
      events.map((event) =>
        event.type === "BOOKMARK"
          ? event.initialEventsEnd
            ? "INITIAL-END"
            : "BOOKMARK"
          : `${event.type} ${event.object.metadata.name}`,
      );
    const changes = (events: WatchEvent<ConfigMap>[]): string[] =>
      summary(events).filter((text) => text !== "BOOKMARK");

    describe("create, get, list", () => {
      test("a created object is readable at once, with the fields that the server sets", async () => {
        const created = await create("a", { key: "välue" });

        const read = await client.get(ConfigMap, keyOf("a"));

        expect(read).toEqual(created);
        expect(read).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { key: "välue" } });
        expect(read.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
        expect(read.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(Number(read.metadata.resourceVersion)).toBeGreaterThan(0);
      });

      test("a list is ordered by name, and has the kind of its items and a resourceVersion", async () => {
        for (const name of ["b", "a", "c"]) await create(name);

        const list = await client.list(ConfigMap, {
          cluster,
          namespace,
          fieldSelector: "metadata.name!=kube-root-ca.crt",
        });

        expect(list.items.map((item) => [item.apiVersion, item.kind, item.metadata.name])).toEqual([
          ["v1", "ConfigMap", "a"],
          ["v1", "ConfigMap", "b"],
          ["v1", "ConfigMap", "c"],
        ]);
        expect(Number(list.resourceVersion)).toBeGreaterThan(0);
      });

      test("a list without a namespace covers all of them", async () => {
        await create("a", {}, { suite: namespace });

        const list = await client.list(ConfigMap, { cluster, labelSelector: `suite=${namespace}` });

        expect(list.items.map(({ metadata }) => metadata.namespace)).toEqual([namespace]);
      });

      const selections: Record<string, { labelSelector?: string; fieldSelector?: string; want: string[] }> = {
        "an equal label": { labelSelector: "app=web", want: ["a", "b"] },
        "several labels": { labelSelector: "app=web,tier!=back", want: ["a"] },
        "a set of values": { labelSelector: "app in (db,cache)", want: ["c"] },
        "an absent label": { labelSelector: "test,!app", want: ["d"] },
        "a metadata.name field": { fieldSelector: "metadata.name=b", want: ["b"] },
      };
      for (const [selection, { want, ...selectors }] of Object.entries(selections)) {
        test(`a list is selected by ${selection}`, async () => {
          await create("a", {}, { test: "", app: "web", tier: "front" });
          await create("b", {}, { test: "", app: "web", tier: "back" });
          await create("c", {}, { test: "", app: "db" });
          await create("d", {}, { test: "" });

          const list = await client.list(ConfigMap, { cluster, namespace, ...selectors });

          expect(list.items.map(({ metadata }) => metadata.name)).toEqual(want);
        });
      }

      test("pages together are the list at the time of the first page", async () => {
        for (const name of ["a", "b", "c", "d", "e"]) await create(name, {}, { test: "" });
        const options = { cluster, namespace, labelSelector: "test", limit: 2 };

        const first = await client.list(ConfigMap, options);
        await client.delete(ConfigMap, keyOf("e"));
        await create("bb", {}, { test: "" });
        const second = await client.list(ConfigMap, { ...options, continue: first.continue ?? "" });
        const third = await client.list(ConfigMap, { ...options, continue: second.continue ?? "" });

        expect([first, second, third].map(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual([
          ["a", "b"],
          ["c", "d"],
          ["e"],
        ]);
        expect(third.continue).toBeUndefined();
        expect([second.resourceVersion, third.resourceVersion]).toEqual([first.resourceVersion, first.resourceVersion]);
      });

      test("generateName generates names", async () => {
        const made = await client.create(ConfigMap, cluster, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { generateName: "job-", namespace } as ConfigMap["metadata"],
        });

        expect(made.metadata.name).toMatch(/^job-[a-z0-9]{5}$/);
      });
    });

    describe("failures", () => {
      test("getting a missing object returns NotFound", async () => {
        const failure = await failureOf(client.get(ConfigMap, keyOf("missing")));

        expect(isNotFound(failure)).toBe(true);
        expect(failure).toMatchObject({
          message: 'configmaps "missing" not found',
          status: { code: 404, details: { name: "missing", kind: "configmaps" } },
        });
      });

      test("updating, patching and deleting a missing object returns NotFound", async () => {
        const failures = await Promise.all([
          failureOf(client.update(ConfigMap, cluster, makeMap("missing"))),
          failureOf(client.patch(ConfigMap, keyOf("missing"), {}, { type: "merge" })),
          failureOf(client.delete(ConfigMap, keyOf("missing"))),
        ]);

        expect(failures.map((failure) => isNotFound(failure))).toEqual([true, true, true]);
      });

      test("creating an existing object returns AlreadyExists", async () => {
        await create("a");

        const failure = await failureOf(create("a"));

        expect(isAlreadyExists(failure)).toBe(true);
        expect(failure).toMatchObject({ message: 'configmaps "a" already exists', status: { code: 409 } });
      });

      test("a stale update is a conflict, and changes nothing", async () => {
        const old = await create("a", { n: "1" });
        await client.update(ConfigMap, cluster, { ...old, data: { n: "2" } });

        const failure = await failureOf(client.update(ConfigMap, cluster, { ...old, data: { n: "3" } }));

        expect(isConflict(failure)).toBe(true);
        expect((await client.get(ConfigMap, keyOf("a"))).data).toEqual({ n: "2" });
      });

      test("an invalid object is rejected with every invalid field", async () => {
        const broken = copy(makeDeployment("a"));
        Object.assign(broken.spec ?? {}, { replicas: -1 });

        const failure = await failureOf(client.create(Deployment, cluster, broken));

        expect(isInvalid(failure)).toBe(true);
        expect(failure).toMatchObject({
          status: {
            code: 422,
            details: {
              causes: expect.arrayContaining([expect.objectContaining({ field: "spec.replicas" })]) as unknown,
            },
          },
        });
      });

      test("a name that would change the request path is rejected before it is sent", async () => {
        for (const name of ["", ".."])
          await expect(client.delete(ConfigMap, keyOf(name))).rejects.toMatchObject({ status: { code: 400 } });
      });

      test("an aborted request rejects with the signal's reason", async () => {
        await expect(
          client.get(ConfigMap, keyOf("a"), { signal: AbortSignal.abort(new Error("not any more")) }),
        ).rejects.toThrow("not any more");
      });
    });

    describe("update and patch", () => {
      test("an update replaces, and an unchanged update writes nothing", async () => {
        const created = await create("a", { n: "1" });

        const updated = await client.update(ConfigMap, cluster, { ...created, data: { n: "2" } });
        const again = await client.update(ConfigMap, cluster, updated);

        expect(updated.data).toEqual({ n: "2" });
        expect(updated.metadata.uid).toBe(created.metadata.uid);
        expect(versionOf(updated)).not.toBe(versionOf(created));
        expect(versionOf(again)).toBe(versionOf(updated));
      });

      test("status and spec are written separately, and only the spec increments the generation", async () => {
        const created = await client.create(Deployment, cluster, makeDeployment("web", 1));

        const withStatus = await client.updateStatus(Deployment, cluster, {
          ...created,
          spec: { ...copy(created.spec), replicas: 9 },
          status: { replicas: 1 },
        });
        const scaled = await client.update(Deployment, cluster, {
          ...withStatus,
          spec: { ...copy(withStatus.spec), replicas: 2 },
          status: { replicas: 7 },
        });

        expect([withStatus.spec?.replicas, withStatus.status?.replicas, withStatus.metadata.generation]).toEqual([
          1, 1, 1,
        ]);
        expect([scaled.spec?.replicas, scaled.status?.replicas, scaled.metadata.generation]).toEqual([2, 1, 2]);
      });

      test("a merge patch changes the fields it names, and null removes", async () => {
        await create("a", { keep: "1", change: "1", drop: "1" });

        const patched = await client.patch(
          ConfigMap,
          keyOf("a"),
          { data: { change: "2", drop: null } },
          { type: "merge" },
        );

        expect(patched.data).toEqual({ keep: "1", change: "2" });
      });

      test("a JSON patch applies its operations, and fails if its test fails", async () => {
        await create("a", { n: "1" });

        const patched = await client.patch(ConfigMap, keyOf("a"), [{ op: "replace", path: "/data/n", value: "2" }], {
          type: "json",
        });
        const failure = await failureOf(
          client.patch(ConfigMap, keyOf("a"), [{ op: "test", path: "/data/n", value: "1" }], { type: "json" }),
        );

        expect(patched.data).toEqual({ n: "2" });
        expect(failure).toMatchObject({ status: { code: 422 } });
      });

      test("a strategic merge patch merges lists by their keys", async () => {
        await client.create(Deployment, cluster, makeDeployment("web"));

        const patched = await client.patch(
          Deployment,
          keyOf("web"),
          { spec: { template: { spec: { containers: [{ name: "side", image: "envoy:2" }] } } } },
          { type: "strategic" },
        );

        expect(patched.spec?.template.spec?.containers.map(({ name, image }) => `${name}=${image}`).sort()).toEqual([
          "main=nginx:1",
          "side=envoy:2",
        ]);
      });

      test("a status patch only changes the status", async () => {
        await client.create(Deployment, cluster, makeDeployment("web", 1));

        const patched = await client.patch(
          Deployment,
          keyOf("web"),
          { spec: { replicas: 9 }, status: { replicas: 3 } },
          { type: "merge", subresource: "status" },
        );

        expect([patched.spec?.replicas, patched.status?.replicas]).toEqual([1, 3]);
      });
    });

    describe("apply", () => {
      test("creates, then updates, then removes fields that are no longer applied", async () => {
        const first = await client.apply(ConfigMap, cluster, makeMap("a", { keep: "1", drop: "1" }));

        const second = await client.apply(ConfigMap, cluster, makeMap("a", { keep: "2" }));

        expect(first.data).toEqual({ keep: "1", drop: "1" });
        expect(second.data).toEqual({ keep: "2" });
        expect(second.metadata.uid).toBe(first.metadata.uid);
      });

      test("leaves fields of other managers alone", async () => {
        await client.apply(ConfigMap, cluster, makeMap("a", { mine: "1" }));

        const other = await client.apply(ConfigMap, cluster, makeMap("a", { theirs: "1" }), { fieldManager: "other" });

        expect(other.data).toEqual({ mine: "1", theirs: "1" });
        expect(other.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort()).toEqual(
          ["contract Apply", "other Apply"],
        );
      });

      test("a field of another manager is a conflict that names it, and force takes it over", async () => {
        await client.apply(ConfigMap, cluster, makeMap("a", { n: "1" }));

        const failure = await failureOf(
          client.apply(ConfigMap, cluster, makeMap("a", { n: "2" }), { fieldManager: "other" }),
        );
        const forced = await client.apply(ConfigMap, cluster, makeMap("a", { n: "2" }), {
          fieldManager: "other",
          force: true,
        });

        expect(isConflict(failure)).toBe(true);
        expect(failure).toMatchObject({
          message: 'Apply failed with 1 conflict: conflict with "contract": .data.n',
          status: {
            details: {
              causes: [{ reason: "FieldManagerConflict", message: 'conflict with "contract"', field: ".data.n" }],
            },
          },
        });
        expect(forced.data).toEqual({ n: "2" });
      });

      test("applying the same object again writes nothing", async () => {
        const first = await client.apply(ConfigMap, cluster, makeMap("a", { n: "1" }));

        const second = await client.apply(ConfigMap, cluster, makeMap("a", { n: "1" }));

        expect(versionOf(second)).toBe(versionOf(first));
      });
    });

    describe("delete", () => {
      test("a deleted object is not found", async () => {
        await create("a");

        expect(await client.delete(ConfigMap, keyOf("a"))).toBe("gone");

        expect(isNotFound(await failureOf(client.get(ConfigMap, keyOf("a"))))).toBe(true);
      });

      test("a finalizer keeps the object until it is removed", async () => {
        await client.create(ConfigMap, cluster, {
          ...makeMap("a"),
          metadata: { name: "a", namespace, finalizers: ["example.com/hold"] },
        });

        expect(await client.delete(ConfigMap, keyOf("a"))).toBe("going");
        const held = await client.get(ConfigMap, keyOf("a"));
        await client.patch(ConfigMap, keyOf("a"), { metadata: { finalizers: null } }, { type: "merge" });

        expect(held.metadata.deletionTimestamp).toBeDefined();
        expect(isNotFound(await failureOf(client.get(ConfigMap, keyOf("a"))))).toBe(true);
      });

      const preconditions: Record<
        string,
        (object: DeepReadonly<ConfigMap>) => { uid?: string; resourceVersion?: string }
      > = {
        "another uid": () => ({ uid: "00000000-0000-4000-8000-000000000000" }),
        "another resourceVersion": (object) => ({
          resourceVersion: String(Number(object.metadata.resourceVersion) + 1),
        }),
      };
      for (const [what, preconditionsFor] of Object.entries(preconditions)) {
        test(`a deletion with the precondition of ${what} is a conflict`, async () => {
          const created = await create("a");

          const failure = await failureOf(
            client.delete(ConfigMap, keyOf("a"), { preconditions: preconditionsFor(created) }),
          );

          expect(isConflict(failure)).toBe(true);
          expect((await client.get(ConfigMap, keyOf("a"))).metadata.uid).toBe(created.metadata.uid);
        });
      }

      test("deletecollection only deletes selected objects", async () => {
        await create("a", {}, { app: "web" });
        await create("b", {}, { app: "web" });
        await create("c", {}, { app: "db" });

        await client.deleteCollection(ConfigMap, { cluster, namespace, labelSelector: "app=web" });

        const left = await client.list(ConfigMap, { cluster, namespace, labelSelector: "app" });
        expect(left.items.map(({ metadata }) => metadata.name)).toEqual(["c"]);
      });
    });

    describe("dry runs", () => {
      test("return the result without changing anything", async () => {
        const existing = await create("a", { n: "1" });

        const created = await client.create(ConfigMap, cluster, makeMap("b"), { dryRun: true });
        const updated = await client.update(ConfigMap, cluster, { ...existing, data: { n: "2" } }, { dryRun: true });
        const applied = await client.apply(ConfigMap, cluster, makeMap("c", { n: "3" }), { dryRun: true });
        expect(await client.delete(ConfigMap, keyOf("a"), { dryRun: true })).toBe("going");

        expect([created.metadata.name, updated.data, applied.data]).toEqual(["b", { n: "2" }, { n: "3" }]);
        expect(await client.get(ConfigMap, keyOf("a"))).toEqual(existing);
        for (const name of ["b", "c"])
          expect(isNotFound(await failureOf(client.get(ConfigMap, keyOf(name))))).toBe(true);
      });
    });

    describe("watch", () => {
      test("a watch from a resourceVersion returns every later change, in order, and no other", async () => {
        const first = await create("a", { n: "1" });
        const second = await client.update(ConfigMap, cluster, { ...first, data: { n: "2" } });
        await create("b");
        await client.delete(ConfigMap, keyOf("b"));

        const events = await watchUntil(
          ConfigMap,
          { resourceVersion: versionOf(first) },
          (seen) => changes(seen).length >= 3,
        );

        expect(changes(events)).toEqual(["MODIFIED a", "ADDED b", "DELETED b"]);
        const [modified] = events.filter((event) => event.type === "MODIFIED");
        expect(modified).toEqual({ type: "MODIFIED", cluster, object: second });
      });

      test("a watch resumes where another one stopped, without loss or repetition", async () => {
        const start = await create("a");
        for (const name of ["b", "c", "d"]) await create(name);
        const before = await watchUntil(
          ConfigMap,
          { resourceVersion: versionOf(start) },
          (seen) => changes(seen).length >= 1,
        );
        const first = before.find((event) => event.type !== "BOOKMARK");

        const after = await watchUntil(
          ConfigMap,
          { resourceVersion: first ? versionOf(first.object) : "" },
          (seen) => changes(seen).length >= 2,
        );

        expect(first?.object.metadata.name).toBe("b");
        expect(changes(after)).toEqual(["ADDED c", "ADDED d"]);
      });

      test("a streaming list returns the existing objects, then a bookmark, then changes", async () => {
        await create("a", {}, { test: "" });
        await create("b", {}, { test: "" });
        let created = false;

        const events = await watchUntil(ConfigMap, { sendInitialEvents: true, labelSelector: "test" }, (seen) => {
          if (!created && changes(seen).includes("INITIAL-END")) {
            created = true;
            void create("c", {}, { test: "" });
          }
          return changes(seen).includes("ADDED c");
        });

        expect(changes(events)).toEqual(["ADDED a", "ADDED b", "INITIAL-END", "ADDED c"]);
      });

      test("a watch can resume from the bookmark after the initial events", async () => {
        await create("a", {}, { test: "" });
        const initial = await watchUntil(ConfigMap, { sendInitialEvents: true, labelSelector: "test" }, (seen) =>
          changes(seen).includes("INITIAL-END"),
        );
        const end = initial.find((event) => event.type === "BOOKMARK" && event.initialEventsEnd);
        await create("b", {}, { test: "" });

        const events = await watchUntil(
          ConfigMap,
          { resourceVersion: end?.type === "BOOKMARK" ? end.resourceVersion : "", labelSelector: "test" },
          (seen) => changes(seen).length >= 1,
        );

        expect(changes(events)).toEqual(["ADDED b"]);
      });

      test("an object that starts to match is ADDED, and one that stops matching is DELETED", async () => {
        const start = await create("a", {}, { app: "web" });
        await client.patch(ConfigMap, keyOf("a"), { metadata: { labels: { app: "db" } } }, { type: "merge" });
        await client.patch(ConfigMap, keyOf("a"), { metadata: { labels: { app: "web" } } }, { type: "merge" });

        const events = await watchUntil(
          ConfigMap,
          { resourceVersion: versionOf(start), labelSelector: "app=web" },
          (seen) => changes(seen).length >= 2,
        );

        expect(changes(events)).toEqual(["DELETED a", "ADDED a"]);
      });

      test("a watch from the first resourceVersion returns everything, or an expired error", async () => {
        await create("a", {}, { test: "" });
        let events: WatchEvent<ConfigMap>[] = [];

        const failure = await failureOf(
          watchUntil(
            ConfigMap,
            { resourceVersion: "1", labelSelector: "test" },
            (seen) => changes((events = seen)).length >= 1,
          ),
        );

        expect(isExpired(failure) || changes(events)[0] === "ADDED a").toBe(true);
      });

      test("a watch ends without an error when its signal is aborted", async () => {
        const stop = new AbortController();
        await create("a", {}, { test: "" });
        const events: string[] = [];

        for await (const batch of client.watch(ConfigMap, {
          cluster,
          namespace,
          labelSelector: "test",
          sendInitialEvents: true,
          signal: stop.signal,
        })) {
          events.push(...changes(batch));
          if (events.includes("INITIAL-END")) stop.abort();
        }

        expect(events).toEqual(["ADDED a", "INITIAL-END"]);
      });
    });

    describe("isolation", () => {
      test("changing objects that were read or sent changes nothing on the server", async () => {
        const sent = makeMap("a", { n: "1" });
        await client.create(ConfigMap, cluster, sent);
        tryToSet(sent.data, "n", "changed after sending");
        const read = await client.get(ConfigMap, keyOf("a"));
        tryToSet(read.data, "n", "changed after reading");
        const [listed] = (await client.list(ConfigMap, { cluster, namespace, fieldSelector: "metadata.name=a" })).items;
        tryToSet(listed?.data, "n", "changed after listing");

        expect((await client.get(ConfigMap, keyOf("a"))).data).toEqual({ n: "1" });
      });

      test("results can be cloned", async () => {
        const created = await create("a", { n: "1" });

        expect(structuredClone(created)).toEqual(created);
      });

      test("nothing resolves in the same tick", async () => {
        await create("a");
        let resolved = false;

        const reading = client.get(ConfigMap, keyOf("a")).then(() => (resolved = true));
        const atOnce = resolved;
        await reading;

        expect(atOnce).toBe(false);
      });

      test("keys such as __proto__ are data", async () => {
        const data = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;

        await create("a", data);

        expect(Object.entries((await client.get(ConfigMap, keyOf("a"))).data ?? {})).toEqual([
          ["__proto__", "a"],
          ["constructor", "b"],
        ]);
      });
    });

    describe("raw requests", () => {
      test("discovery and version are returned as bytes", async () => {
        const response = await client.raw({ cluster, method: "GET", path: "/version" });
        const chunks = await Array.fromAsync(response.body);

        expect(response.status).toBe(200);
        expect(response.headers["content-type"]).toMatch(/^application\/json/);
        expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
          major: expect.any(String) as string,
          gitVersion: expect.stringMatching(/^v/) as string,
        });
      });

      test("a failure is a response and not an error", async () => {
        const response = await client.raw({ cluster, method: "GET", path: "/apis/nowhere.example/v1/things" });
        const chunks = await Array.fromAsync(response.body);

        expect(response.status).toBe(404);
        expect(chunks.length).toBeGreaterThan(0);
      });
    });

    test("concurrent requests do not affect each other", async () => {
      const names = Array.from({ length: 100 }, (_value, index) => `many-${String(index).padStart(3, "0")}`);

      const created = await Promise.all(names.map((name) => create(name, { name })));
      await nextTurn();
      const read = await Promise.all(names.map((name) => client.get(ConfigMap, keyOf(name))));

      expect(created.map(({ data }) => data?.["name"])).toEqual(names);
      expect(read).toEqual(created);
      expect(new Set(created.map((object) => versionOf(object))).size).toBe(100);
    });
  });
}

/**
 * A reader that forgets that its objects are shared: it fails on frozen objects, and otherwise only changes its own
 * copy.
 */
function tryToSet(target: DeepReadonly<Record<string, string>> | undefined, key: string, value: string): void {
  Reflect.set(target ?? {}, key, value);
}
