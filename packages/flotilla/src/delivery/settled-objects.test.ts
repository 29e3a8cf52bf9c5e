import { expect, test } from "vitest";
import { ConfigMap } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { AnyKind } from "@flotilla/client";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { createSettledObjects } from "./settled-objects.ts";

const kind = ConfigMap as unknown as AnyKind;
const key = { cluster: "paris", namespace: "shop", name: "prices" };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "prices" } };

function setUp() {
  const listeners: ((event: ObjectEvent) => void)[] = [];
  const informer = {
    subscribe(listener: (typeof listeners)[number]) {
      listeners.push(listener);
      return () => void listeners.splice(listeners.indexOf(listener), 1);
    },
  } as unknown as Informer<KubernetesObject>;
  const settled = createSettledObjects(() => informer);
  settled.set(kind, key, { generation: 3 });
  return { settled, listeners };
}

test("a settled object is found by its kind and key", () => {
  const { settled } = setUp();

  expect(settled.get(kind, key)).toEqual({ generation: 3 });
  expect(settled.get(kind, { ...key, cluster: "oslo" })).toBeUndefined();
});

test("a forgotten object leaves nothing behind", () => {
  const { settled, listeners } = setUp();

  settled.forget({ group: "", plural: "configmaps" }, key);

  expect(settled.size()).toBe(0);
  expect(listeners).toHaveLength(0);
});

test("an object that is deleted on the member is forgotten, and a changed one is not", () => {
  const { settled, listeners } = setUp();
  settled.set(kind, key, { generation: 4 });

  expect(listeners).toHaveLength(1);

  listeners.forEach((listener) => listener({ cluster: "paris", object, deleted: false }));
  expect(settled.size()).toBe(1);

  listeners.forEach((listener) => listener({ cluster: "paris", object, deleted: true }));
  expect(settled.size()).toBe(0);
});
