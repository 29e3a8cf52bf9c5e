import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { createFakeClock, defined } from "@flotilla/base";
import { makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { createDepartures, GRACE_PERIOD_MS } from "./departures.ts";

const NAMESPACE: KubernetesObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.dev" },
  spec: { group: "example.dev", names: { kind: "Widget" } },
} as KubernetesObject;
const widget = { apiVersion: "example.dev/v2", kind: "Widget", metadata: { namespace: "shop", name: "a" } };
const KEY = { cluster: "hub", namespace: "karmada-es-paris", name: "departing" };

const workOf = (name: string, manifest: KubernetesObject, isGoing = false): Work => {
  const work = makeWork("paris", name).build();
  return {
    ...work,
    metadata: {
      ...work.metadata,
      namespace: "karmada-es-paris",
      ...defined({ deletionTimestamp: isGoing ? "2024-05-01T12:00:00Z" : undefined }),
    },
    spec: { workload: { manifests: [manifest as never] } },
  };
};
/** A manual version of the informer's index. */
function worksWith(others: readonly Work[]): Parameters<typeof createDepartures>[0]["works"] {
  let placesOf = (_work: Work, _cluster: string): readonly string[] => [];
  return {
    addIndex: (_name, valuesOf) => void (placesOf = valuesOf),
    by: (_name, place) => others.filter((work) => placesOf(work, "hub").includes(place)),
  };
}
function judged(container: KubernetesObject, others: readonly Work[], afterMs = 0): unknown {
  const clock = createFakeClock();
  const departures = createDepartures({ works: worksWith(others), clock });
  const work = workOf("departing", container, true);
  departures.judge(work, KEY, container);
  clock.advance(afterMs);
  return departures.judge(work, KEY, container);
}

const web = makeDeployment("shop/web").build();
const elsewhere = makeDeployment("office/web").build();
const cases: Record<string, [verdict: unknown, want: unknown]> = {
  "an object that is not a container is deleted": [judged(web, [workOf("other", web)]), "delete"],
  "a namespace is deleted when it has no other Work": [judged(NAMESPACE, [workOf("other", elsewhere)]), "delete"],
  "a namespace waits for terminating Works, without a limit": [
    judged(NAMESPACE, [workOf("other", web, true)], 10 * GRACE_PERIOD_MS),
    "wait",
  ],
  "a namespace waits for a grace period for Works that may be deleted soon": [
    judged(NAMESPACE, [workOf("other", web)]),
    "wait",
  ],
  "a namespace with delivered objects stays": [
    judged(NAMESPACE, [workOf("other", web)], GRACE_PERIOD_MS),
    { stays: "Work other delivers Deployment web into it" },
  ],
  "a CRD is deleted when no other Work has its kind": [judged(DEFINITION, [workOf("other", web)]), "delete"],
  "a CRD waits for Works with its kind, in any version": [judged(DEFINITION, [workOf("other", widget, true)]), "wait"],
  "a CRD whose kind is delivered stays": [
    judged(DEFINITION, [workOf("other", widget)], GRACE_PERIOD_MS),
    { stays: "Work other delivers Widget a into it" },
  ],
};
for (const [behaviour, [verdict, want]] of Object.entries(cases)) test(behaviour, () => expect(verdict).toEqual(want));

test("remaining objects on the member get a grace period, and then keep the container", () => {
  const clock = createFakeClock();
  const departures = createDepartures({ works: worksWith([]), clock });

  expect(departures.judgeHolding(KEY)).toBe("leave");
  clock.advance(GRACE_PERIOD_MS);
  expect(departures.judgeHolding(KEY)).toBe("release");
});

test("the deletion of a Work wakes Works that wait for it, until they are forgotten", () => {
  const departures = createDepartures({ works: worksWith([workOf("other", web)]), clock: createFakeClock() });
  departures.judge(workOf("departing", NAMESPACE, true), KEY, NAMESPACE);

  expect(departures.after(workOf("other", web))).toEqual([KEY]);
  expect(departures.after(workOf("other", elsewhere))).toEqual([]);
  departures.forget(KEY);
  expect(departures.after(workOf("other", web))).toEqual([]);
});
