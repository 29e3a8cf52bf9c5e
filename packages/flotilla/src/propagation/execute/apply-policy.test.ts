import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { customResourceDefinitionOf } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { servesAsItIs } from "../members/foreign-copies.ts";
import { isUnmanaged, mayAdopt, planApplyPolicy } from "./apply-policy.ts";

const manifest = (annotations: Record<string, string>, labels: Record<string, string> = {}) =>
  makeDeployment("shop/web")
    .with(({ metadata }) => Object.assign(metadata, { annotations, labels }))
    .build();
const work = (annotations: Record<string, string> = {}) => ({
  ...makeWork("paris", "web").build(),
  metadata: { namespace: "karmada-es-paris", name: "web", annotations },
});

test("drift is repaired unless the policy or the template specifies report, and the template takes precedence", () => {
  const report = { "flotilla.dev/drift": "report" };

  expect(planApplyPolicy(work(), manifest({}), false).drift).toBe("repair");
  expect(planApplyPolicy(work(report), manifest({}), false).drift).toBe("report");
  expect(planApplyPolicy(work(report), manifest({ "flotilla.dev/drift": "repair" }), false).drift).toBe("repair");
});

test("the member owns replicas where an autoscaler is propagated there, or the template specifies it", () => {
  expect(planApplyPolicy(work(), manifest({}), false).replicas).toBe("autoscaled");
  expect(planApplyPolicy(work(), manifest({}), true).replicas).toBe("theirs");
  expect(
    planApplyPolicy(work(), manifest({}, { "resourcetemplate.karmada.io/retain-replicas": "true" }), false).replicas,
  ).toBe("theirs");
});

const overwrite = { "work.karmada.io/conflict-resolution": "overwrite" };
const definition = (change: object): KubernetesObject => {
  const { metadata, spec, ...rest } = customResourceDefinitionOf(CloneSet);
  return {
    ...rest,
    metadata: { ...metadata, annotations: overwrite },
    spec: { ...spec, ...change },
  } as KubernetesObject;
};
const [first] = customResourceDefinitionOf(CloneSet).spec.versions;
const adoptions: Record<string, { object: KubernetesObject; want: boolean }> = {
  "adopts an existing object on a member when the policy allows it": { object: manifest(overwrite), want: true },
  "leaves an existing object on a member alone otherwise": { object: manifest({}), want: false },
  "an OpenKruise CRD that the hub converts by code never replaces the member's CRD": {
    object: definition({}),
    want: false,
  },
  "an OpenKruise CRD with its webhook, as published, replaces the member's CRD": {
    object: definition({ conversion: { strategy: "Webhook" } }),
    want: true,
  },
  "an OpenKruise CRD with a single version replaces the member's CRD": {
    object: definition({ versions: [first] }),
    want: true,
  },
  "a CRD of another project replaces the member's CRD": { object: definition({ group: "example.dev" }), want: true },
};
for (const [behaviour, { object, want }] of Object.entries(adoptions)) {
  test(behaviour, () => {
    expect(mayAdopt(object)).toBe(want);
  });
}

test("an OpenKruise CRD that the hub converts by code is not repaired when it is changed on the member", () => {
  expect(planApplyPolicy(work(), definition({}), false).drift).toBe("report");
  expect(planApplyPolicy(work(), definition({ conversion: { strategy: "Webhook" } }), false).drift).toBe("repair");
});

test("a namespace and an OpenKruise CRD that the hub converts by code serve as the member has them", () => {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };

  expect([namespace, definition({}), definition({ group: "example.dev" }), manifest({})].map(servesAsItIs)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

const cases: Record<string, boolean> = {
  true: true,
  false: false,
  paris: true,
  "oslo, paris": true,
  oslo: false,
  "": false,
};
for (const [value, want] of Object.entries(cases)) {
  test(`a template whose annotation is ${JSON.stringify(value)} is ${want ? "left alone" : "managed"} on paris`, () => {
    expect(isUnmanaged(manifest({ "flotilla.dev/unmanaged": value }), "paris")).toBe(want);
  });
}
