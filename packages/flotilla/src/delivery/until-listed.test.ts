import { describe, expect, test } from "vitest";
import { ConfigMap } from "@flotilla/kubernetes";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { AnyKind, KindResolver } from "@flotilla/client";
import { createInformers } from "@flotilla/controller-runtime";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createDelivery } from "./create-delivery.ts";
import { createObserver } from "./observer.ts";
import { untilListed } from "./until-listed.ts";

const never = new AbortController().signal;

describe("waiting for a list", () => {
  const under = Promise.withResolvers<void>();
  /** A list that ends when the test resolves it, or with the signal. */
  const informer = {
    whenQuiet: (signal: AbortSignal) =>
      new Promise<void>(
        (resolve, reject) => (
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
          void under.promise.then(resolve)
        ),
      ),
  };

  test("ends after the timeout", async () => {
    const clock = createFakeClock();
    const waiting = untilListed(informer, clock, never);

    clock.advance(2_000);

    await expect(waiting).resolves.toBeUndefined();
  });

  test("ends with the signal, and rejects", async () => {
    const stop = new AbortController();
    const waiting = untilListed(informer, createFakeClock(), stop.signal);

    stop.abort(new Error("stopped"));

    await expect(waiting).rejects.toThrow("stopped");
  });

  test("ends with the list", async () => {
    const waiting = untilListed(informer, createFakeClock(), never);

    under.resolve();

    await expect(waiting).resolves.toBeUndefined();
  });
});

test("objects are not read one by one while a list of their kind is in flight", async () => {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "far" },
    random: createSeededRandom(1),
  });
  const kinds: KindResolver = {
    known: () => ConfigMap as unknown as AnyKind,
    resolve: async () => ConfigMap as unknown as AnyKind,
    forget: () => {},
  };
  const delivery = createDelivery({ client, cluster: "far", kinds, observer: createObserver(informers), clock });
  const names = Array.from({ length: 20 }, (_, index) => `settings-${index}`);

  const outcomes = await Promise.all(
    names.map((name) =>
      delivery.apply(
        { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name } },
        { mode: "apply", force: true, fieldManager: "flotilla" },
        never,
      ),
    ),
  );

  expect(outcomes.map(({ result }) => result)).toEqual(names.map(() => "created"));
  expect(client.count("get")).toBe(0);
  informers.close();
});
