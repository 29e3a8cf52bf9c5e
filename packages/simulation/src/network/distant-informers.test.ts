/** The hub's view of members that are cut off, and the events it receives when they are back. */
import { expect, test } from "vitest";
import { ConfigMap } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer, Informers, Lane, ObjectEvent } from "@flotilla/controller-runtime";
import { createDistantInformers } from "./distant-informers.ts";
import type { MemberNetwork } from "./member-network.ts";

const makeMap = (name: string, value: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data: { value },
});
const keyOf = (cluster: string, name: string) => ({ cluster, namespace: "shop", name });

/** Informers of reachable members: every change is delivered at once. */
function makeNear(): Informers & {
  put(cluster: string, object: ConfigMap): void;
  remove(cluster: string, name: string): void;
} {
  const stored = new Map<string, { cluster: string; object: ConfigMap }>();
  const listeners = new Set<(event: ObjectEvent<ConfigMap>, lane: Lane) => void>();
  const idOf = (cluster: string, name: string): string => `${cluster}/${name}`;
  const notify = (event: ObjectEvent<ConfigMap>): void => listeners.forEach((listener) => listener(event, "fresh"));
  const informer = {
    closed: new AbortController().signal,
    get: ({ cluster, name }: { cluster: string; name: string }) => stored.get(idOf(cluster, name))?.object,
    list: ({ cluster }: { cluster?: string } = {}) =>
      [...stored.values()]
        .filter((each) => cluster === undefined || each.cluster === cluster)
        .map(({ object }) => object),
    subscribe(listener: (event: ObjectEvent<ConfigMap>, lane: Lane) => void) {
      for (const { cluster, object } of stored.values()) listener({ cluster, object, deleted: false }, "resync");
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    of: <T extends KubernetesObject>() => informer as unknown as Informer<T>,
    put(cluster, object) {
      const old = stored.get(idOf(cluster, object.metadata.name))?.object;
      stored.set(idOf(cluster, object.metadata.name), { cluster, object });
      notify({ cluster, object, old, deleted: false });
    },
    remove(cluster, name) {
      const old = stored.get(idOf(cluster, name))?.object;
      stored.delete(idOf(cluster, name));
      if (old) notify({ cluster, object: old, old, deleted: true });
    },
  };
}

function makeNetwork(): MemberNetwork & { cut(cluster: string): void; mend(cluster: string): void } {
  const lost = new Set<string>();
  const listeners = new Set<(cluster: string, isCut: boolean) => void>();
  return {
    isCut: (cluster) => lost.has(cluster),
    hasCuts: () => lost.size > 0,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    cut(cluster) {
      lost.add(cluster);
      for (const listener of listeners) listener(cluster, true);
    },
    mend(cluster) {
      lost.delete(cluster);
      for (const listener of listeners) listener(cluster, false);
    },
  };
}

function setUp() {
  const [near, network] = [makeNear(), makeNetwork()];
  const view = createDistantInformers(near, network).of(ConfigMap);
  const events: string[] = [];
  const listen = (list = events): (() => void) =>
    view.subscribe(
      ({ cluster, object, old, deleted }) =>
        void list.push(
          `${deleted ? "-" : old ? "~" : "+"} ${cluster}/${object.metadata.name} ${object.data?.["value"]}${old ? ` was ${old.data?.["value"]}` : ""}`,
        ),
    );
  return { near, network, view, reported: events, listen };
}
const valuesOf = (maps: readonly DeepReadonly<ConfigMap>[]): string[] =>
  maps.map(({ data }) => data?.["value"] ?? "").sort();

test("passes changes of reachable members through", () => {
  const { near, network, view, reported: events, listen } = setUp();
  listen();
  network.cut("m2");

  near.put("m1", makeMap("a", "1"));
  near.put("m1", makeMap("a", "2"));
  near.remove("m1", "a");

  expect(events).toEqual(["+ m1/a 1", "~ m1/a 2 was 1", "- m1/a 2 was 2"]);
  expect(view.list({ cluster: "m1" })).toEqual([]);
});

test("a distant informer keeps the last seen state of a member that is cut off, whatever changes there", () => {
  const { near, network, view, reported: events, listen } = setUp();
  near.put("m1", makeMap("kept", "1"));
  near.put("m1", makeMap("changed", "1"));
  near.put("m1", makeMap("removed", "1"));
  listen();
  events.length = 0;
  network.cut("m1");

  near.put("m1", makeMap("changed", "2"));
  near.put("m1", makeMap("changed", "3"));
  near.put("m1", makeMap("new", "1"));
  near.remove("m1", "removed");

  expect(events).toEqual([]);
  expect(["kept", "changed", "removed", "new"].map((name) => view.get(keyOf("m1", name))?.data?.["value"])).toEqual([
    "1",
    "1",
    "1",
    undefined,
  ]);
  expect(valuesOf(view.list({ cluster: "m1" }))).toEqual(["1", "1", "1"]);
  expect(valuesOf(view.list())).toEqual(["1", "1", "1"]);
  expect(view.list({ cluster: "m1", namespace: "other" }).some(({ metadata }) => metadata.name === "removed")).toBe(
    false,
  );
});

test("delivers each difference once when the member is back, and nothing for unchanged objects", () => {
  const { near, network, view, reported: events, listen } = setUp();
  near.put("m1", makeMap("changed", "1"));
  near.put("m1", makeMap("removed", "1"));
  listen();
  events.length = 0;
  network.cut("m1");
  near.put("m1", makeMap("changed", "2"));
  near.put("m1", makeMap("changed", "3"));
  near.remove("m1", "removed");
  near.put("m1", makeMap("new", "1"));
  near.put("m1", makeMap("short-lived", "1"));
  near.remove("m1", "short-lived");

  network.mend("m1");
  near.put("m1", makeMap("new", "2"));

  expect(events).toEqual(["~ m1/changed 3 was 1", "- m1/removed 1 was 1", "+ m1/new 1", "~ m1/new 2 was 1"]);
  expect(valuesOf(view.list({ cluster: "m1" }))).toEqual(["2", "3"]);
});

test("a listener added during the cut receives the last seen state, and the rest when the member is back", () => {
  const { near, network, listen } = setUp();
  near.put("m1", makeMap("a", "1"));
  network.cut("m1");
  near.put("m1", makeMap("a", "2"));
  near.put("m1", makeMap("b", "1"));
  const late: string[] = [];

  const stop = listen(late);
  const early = [...late];
  network.mend("m1");
  stop();
  near.put("m1", makeMap("a", "3"));

  expect(early).toEqual(["+ m1/a 1"]);
  expect(late.slice(1)).toEqual(["~ m1/a 2 was 1", "+ m1/b 1"]);
});
