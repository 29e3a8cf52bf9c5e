import { expect, test } from "vitest";
import { ConfigMap, CustomResourceDefinition } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { followDefinitions } from "./definitions.ts";

/** Fake informers that emit the test's events, and record the kinds subscribed to. */
function createShown(): { informers: Informers; subscribed: string[]; report(event: Partial<ObjectEvent>): void } {
  const listeners: ((event: never) => void)[] = [];
  const subscribed: string[] = [];
  const informer = (kind: Kind) => ({
    kind,
    subscribe(listener: (event: never) => void) {
      subscribed.push(kind.kind);
      listeners.push(listener);
      return () => {};
    },
  });
  const known = new Map<Kind, object>();
  const of = (kind: Kind): object => known.get(kind) ?? known.set(kind, informer(kind)).get(kind) ?? {};
  return {
    informers: { of } as unknown as Informers,
    subscribed,
    report: (event) => listeners.forEach((listener) => listener({ cluster: "far", deleted: false, ...event } as never)),
  };
}

function definition(isEstablished: boolean, versions: Record<string, boolean> = { v1: true }): KubernetesObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: { versions: Object.entries(versions).map(([name, served]) => ({ name, served })) },
    status: { conditions: [{ type: "Established", status: isEstablished ? "True" : "False" }] },
  } as KubernetesObject;
}

const cases: Record<string, { event: Partial<ObjectEvent>; want: number }> = {
  "a CRD that the member has not accepted serves nothing yet": { event: { object: definition(false) }, want: 0 },
  "notifies when a CRD is established": { event: { object: definition(true), old: definition(false) }, want: 1 },
  "does not notify on other changes of a CRD": {
    event: { object: definition(true), old: definition(true) },
    want: 0,
  },
  "notifies when a CRD serves another version": {
    event: { object: definition(true, { v1: true, v2: true }), old: definition(true, { v1: true, v2: false }) },
    want: 1,
  },
  "notifies when a CRD is deleted": {
    event: { object: definition(true), old: definition(true), deleted: true },
    want: 1,
  },
  "an object shaped unlike a CRD serves nothing": {
    event: {
      object: {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "odd" },
        status: { conditions: [{ type: "Established", status: "True" }] },
      } as KubernetesObject,
    },
    want: 0,
  },
};
for (const [behaviour, { event, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const shown = createShown();
    let reported = 0;
    followDefinitions(shown.informers, () => reported++).of(CustomResourceDefinition);

    shown.report(event);

    expect(reported).toBe(want);
  });
}

test("CRDs are watched once, and only when a caller subscribes to them", () => {
  const shown = createShown();
  const followed = followDefinitions(shown.informers, () => {});

  for (const kind of [ConfigMap, CustomResourceDefinition, CustomResourceDefinition] as Kind[]) followed.of(kind);

  expect(shown.subscribed).toEqual(["CustomResourceDefinition"]);
});
