/**
 * The contract of `defineController` with controller authors, independent of the server behind the client. Time is a
 * fake clock, so every wait is exact; nothing sleeps.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { silentLog, TerminalError, type DeepReadonly, type FakeClock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import {
  createInformers,
  createManager,
  defineController,
  done,
  owned,
  watch,
  type Controller,
  type ControllerDefinition,
  type Manager,
  type SharedInformers,
} from "@flotilla/controller-runtime";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";

export interface ControllerHarness {
  client: Client;
  clock: FakeClock;
  server: { isQuiet(): boolean };
  /** An existing logical cluster, and a namespace in it. */
  cluster: string;
  namespace: string;
  /** Two namespaced kinds that the server serves; objects of the first have `data`, a map of strings. */
  kind: Kind<Thing>;
  ownedKind: Kind<Thing>;
  close(): Promise<void>;
}

interface Thing extends KubernetesObject {
  data?: Record<string, string>;
}

const FINALIZER = "contract.flotilla.dev/hold";

export function controllerContract(server: string, open: () => Promise<ControllerHarness>): void {
  describe(`controllers on ${server}`, () => {
    test("reconcile reads the current state, not the state of the event", async () => {
      const { run, create, update, settle } = await setUp();
      const seen: (string | undefined)[] = [];
      const first = await create("a", { color: "red" });
      const second = await update(first, { color: "green" });
      await update(second, { color: "blue" });

      run({ reconcile: async (object) => (seen.push(object.data?.color), done) });
      await settle();

      expect(seen).toEqual(["blue"]);
    });

    test("a key is never reconciled concurrently, and changes meanwhile requeue it", async () => {
      const { run, create, update, settle, turns } = await setUp();
      const gate = Promise.withResolvers<void>();
      const seen: (string | undefined)[] = [];
      let running = 0;
      let mostRunning = 0;
      run({
        concurrency: 4,
        async reconcile(object) {
          mostRunning = Math.max(mostRunning, ++running);
          seen.push(object.data?.step);
          await gate.promise;
          running--;
          return done;
        },
      });
      let object = await create("a", { step: "0" });
      await turns();
      for (const step of ["1", "2", "3"]) object = await update(object, { step });
      await turns();

      gate.resolve();
      await settle();

      expect(mostRunning).toBe(1);
      expect(seen).toEqual(["0", "3"]);
    });

    test("different keys are reconciled in parallel, up to the controller's concurrency", async () => {
      const { run, create, settle, turns } = await setUp();
      const gate = Promise.withResolvers<void>();
      let running = 0;
      run({
        concurrency: 3,
        async reconcile() {
          running++;
          await gate.promise;
          return done;
        },
      });

      for (const name of ["a", "b", "c", "d", "e"]) await create(name);
      await turns();

      expect(running).toBe(3);
      gate.resolve();
      await settle();
      expect(running).toBe(5);
    });

    test("a reconcile that throws is retried with backoff until it succeeds", async () => {
      const { run, create, settle, clock, manager } = await setUp();
      const atMs: number[] = [];
      const start = clock.now();
      run({
        async reconcile() {
          atMs.push(clock.now() - start);
          if (atMs.length < 4) throw new Error("not yet");
          return done;
        },
      });
      await create("a");
      await settle();

      for (const delayMs of [5, 10, 20, 40]) {
        clock.advance(delayMs);
        await settle();
      }

      expect(atMs).toEqual([0, 5, 15, 35]);
      expect(manager.metrics().get("contract")).toMatchObject({ reconciles: 4, failures: 3, queueLength: 0 });
    });

    test("a key that failed with a TerminalError waits for a change", async () => {
      const { run, create, update, settle, clock } = await setUp();
      let reconciles = 0;
      run({
        async reconcile() {
          reconciles++;
          throw new TerminalError("the policy contradicts itself");
        },
      });
      const object = await create("a");
      await settle();

      clock.advance(3_600_000);
      await settle();
      expect(reconciles).toBe(1);
      await update(object, { fixed: "perhaps" });
      await settle();

      expect(reconciles).toBe(2);
    });

    test("requeueAfterMs requeues the key when that time has passed, and not before", async () => {
      const { run, create, settle, clock } = await setUp();
      let reconciles = 0;
      run({ reconcile: async () => (++reconciles === 1 ? { requeueAfterMs: 30_000 } : done) });
      await create("a");
      await settle();

      clock.advance(29_999);
      await settle();
      expect(reconciles).toBe(1);
      clock.advance(1);
      await settle();

      expect(reconciles).toBe(2);
    });

    test("the finalizer is added before anything is created, and removed when finalize is done", async () => {
      const { run, create, read, remove, settle, clock } = await setUp();
      const calls: string[] = [];
      run({
        finalizer: FINALIZER,
        reconcile: async ({ metadata }) => (calls.push(`reconcile ${metadata.finalizers?.join()}`), done),
        finalize: async () => (calls.push("finalize"), calls.length < 3 ? { requeueAfterMs: 1000 } : done),
      });
      await create("a");
      await settle();
      expect(calls).toEqual([`reconcile ${FINALIZER}`]);

      await remove("a");
      await settle();
      expect(await read("a")).toBeDefined();
      clock.advance(1000);
      await settle();

      expect(calls).toEqual([`reconcile ${FINALIZER}`, "finalize", "finalize"]);
      expect(await read("a")).toBeUndefined();
    });

    test("finalizers of other controllers stay, and a deleted object without our finalizer is not reconciled", async () => {
      const { run, create, read, remove, settle } = await setUp();
      const calls: string[] = [];
      run({
        finalizer: FINALIZER,
        reconcile: async () => (calls.push("reconcile"), done),
        finalize: async () => (calls.push("finalize"), done),
      });
      await create("a", {}, { finalizers: ["contract.flotilla.dev/other", FINALIZER] });
      await settle();

      await remove("a");
      await settle();

      expect(calls).toEqual(["reconcile", "finalize"]);
      expect((await read("a"))?.metadata.finalizers).toEqual(["contract.flotilla.dev/other"]);
    });

    test("forget is called when the object is deleted", async () => {
      const { run, create, remove, settle } = await setUp();
      const forgotten: string[] = [];
      run({ reconcile: async () => done, forget: ({ name }) => void forgotten.push(name) });
      await create("a");
      await settle();

      await remove("a");
      await settle();

      expect(forgotten).toEqual(["a"]);
    });

    test("owned and watched objects enqueue their owner", async () => {
      const { run, create, settle, harness } = await setUp();
      const { client, cluster, namespace, kind, ownedKind } = harness;
      const seen: string[] = [];
      run({
        watches: [
          owned(ownedKind),
          watch(ownedKind, ({ object }) =>
            object.metadata.labels?.see ? [{ cluster, namespace, name: object.metadata.labels.see }] : [],
          ),
        ],
        reconcile: async ({ metadata }) => (seen.push(metadata.name), done),
      });
      const a = await create("a");
      await create("b");
      await settle();
      seen.length = 0;

      const owner = {
        apiVersion: a.apiVersion,
        kind: kind.kind,
        name: "a",
        uid: a.metadata.uid ?? "",
        controller: true,
      };
      const part = { apiVersion: kindVersion(ownedKind), kind: ownedKind.kind };
      await client.create(ownedKind, cluster, {
        ...part,
        metadata: { name: "part-of-a", namespace, ownerReferences: [owner] },
      });
      await client.create(ownedKind, cluster, { ...part, metadata: { name: "without-owner", namespace } });
      await client.create(ownedKind, cluster, {
        ...part,
        metadata: { name: "of-another", namespace, ownerReferences: [{ ...owner, kind: "Other", name: "b" }] },
      });
      await settle();
      expect(seen).toEqual(["a"]);
      await client.create(ownedKind, cluster, {
        ...part,
        metadata: { name: "points-to-b", namespace, labels: { see: "b" } },
      });
      await settle();

      expect(seen).toEqual(["a", "b"]);
    });

    test("a converged controller writes nothing", async () => {
      const { run, create, settle, clock, manager, harness } = await setUp();
      run({
        async reconcile(object, { signal }) {
          if (object.data?.done !== "yes")
            await harness.client.update(
              harness.kind,
              harness.cluster,
              { ...object, data: { done: "yes" } },
              { signal },
            );
          return done;
        },
      });
      await create("a");
      await settle();
      const before = manager.metrics().get("contract")?.reconciles;

      clock.advance(86_400_000);
      await settle();

      expect(manager.metrics().get("contract")?.reconciles).toBe(before);
      expect(manager.isQuiet()).toBe(true);
    });

    test("stop accepts no more keys, aborts running reconciles through their signal, and waits for them", async () => {
      const { run, create, manager, turns } = await setUp();
      const gate = Promise.withResolvers<void>();
      const signals: AbortSignal[] = [];
      let finished = false;
      run({
        async reconcile(_object, { signal }) {
          signals.push(signal);
          await gate.promise;
          finished = true;
          return done;
        },
      });
      await create("a");
      await turns();

      const stopped = manager.stop().then(() => finished);
      await create("b");
      await turns();
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      gate.resolve();

      expect(await stopped).toBe(true);
      await turns();
      expect(signals.length).toBe(1);
    });

    async function setUp() {
      const harness = await open();
      const { client, clock, cluster, namespace, kind } = harness;
      const informers: SharedInformers = createInformers({ client, clock, log: silentLog, scope: { cluster } });
      const manager: Manager = createManager({ client, informers, clock, log: silentLog });
      const ending = new AbortController();
      onTestFinished(async () => {
        ending.abort();
        await manager.stop();
        informers.close();
        await harness.close();
      });
      const keyOf = (name: string) => ({ cluster, namespace, name });
      return {
        harness,
        clock,
        manager,
        run(
          definition: Pick<ControllerDefinition<Thing>, "reconcile"> & Partial<ControllerDefinition<Thing>>,
        ): Controller {
          const controller = defineController<Thing>({ name: "contract", for: kind, writes: [kind], ...definition });
          manager.add(controller);
          manager.start(ending.signal);
          return controller;
        },
        create: (name: string, data: Record<string, string> = {}, metadata: { finalizers?: string[] } = {}) =>
          client.create(kind, cluster, {
            apiVersion: kindVersion(kind),
            kind: kind.kind,
            metadata: { name, namespace, ...metadata },
            data,
          }),
        update: (object: DeepReadonly<Thing>, data: Record<string, string>) =>
          client.update(kind, cluster, { ...object, data }),
        remove: (name: string) => client.delete(kind, keyOf(name)),
        read: async (name: string): Promise<DeepReadonly<Thing> | undefined> =>
          (await client.list(kind, { cluster, namespace })).items.find(({ metadata }) => metadata.name === name),
        /** Runs until nothing is pending. */
        settle: () => reconcileUntilQuiet({ managers: [manager], server: harness.server }),
        /** Long enough for an event to become a reconcile, for tests in which one is blocked. */
        async turns(): Promise<void> {
          for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => void setImmediate(resolve));
        },
      };
    }
  });
}

function kindVersion({ group, storageVersion }: Kind): string {
  return group ? `${group}/${storageVersion}` : storageVersion;
}
