import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { UnknownKindError } from "@flotilla/client";
import type { AnyKind, KindResolver } from "@flotilla/client";
import type { ObjectListener, Observer } from "./observer.ts";
import { subscribe } from "./subscription.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const ref = { apiVersion: "example.dev/v1", kind: "Widget", namespace: "shop", name: "a" };
const object = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { namespace: "shop", name: "a" } };

function setUp() {
  const answer = Promise.withResolvers<AnyKind>();
  let known: AnyKind | undefined;
  let listener: ObjectListener | undefined;
  const kinds: KindResolver = { known: () => known, forget: () => {}, resolve: () => answer.promise };
  const observer = {
    informer: () => ({ synced: true, fresh: true, get: () => object }),
    listen: (_kind: unknown, _place: unknown, heard: ObjectListener) => (
      (listener = heard),
      () => (listener = undefined)
    ),
  } as unknown as Observer;
  const subscription = subscribe({ cluster: "paris", kinds, observer }, [ref]);
  const seen: unknown[] = [];
  subscription.onChange((observation) => seen.push(observation.object));
  return {
    subscription,
    seen,
    listener: () => listener,
    resolve: (kind: AnyKind) => ((known = kind), answer.resolve(kind)),
    reject: answer.reject,
  };
}
const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

test("a kind that is resolved later is then watched, and its existing object is reported", async () => {
  const { seen, listener, resolve } = setUp();
  expect(listener()).toBeUndefined();

  resolve(Widget);
  await turn();
  expect(seen).toEqual([object]);

  listener()?.(undefined);
  expect(seen).toEqual([object, undefined]);
});

test("a kind that the member does not serve has no objects and causes no error", async () => {
  const { subscription, seen, reject } = setUp();

  reject(new UnknownKindError("paris", ref.apiVersion, ref.kind));
  await turn();

  expect(seen).toEqual([]);
  expect(subscription.get(ref)).toBeUndefined();
  expect(subscription.isFresh(ref)).toBe(false);
});

test("a closed subscription receives no more calls", async () => {
  const { subscription, seen, resolve } = setUp();

  subscription.close();
  resolve(Widget);
  await turn();

  expect(seen).toEqual([]);
});
