import { expect, test } from "vitest";
import { CloneSet, customResourceDefinitionOf } from "../../api/index.ts";
import type { KubernetesObject } from "../../api/index.ts";
import { makeDeployment, makeWork } from "../../testing/index.ts";
import { isUnmanaged, planApplyPolicy } from "./apply-policy.ts";

const manifest = (annotations: Record<string, string>, labels: Record<string, string> = {}) =>
  makeDeployment("shop/web")
    .with(({ metadata }) => Object.assign(metadata, { annotations, labels }))
    .build();
const work = (annotations: Record<string, string> = {}) => ({
  ...makeWork("paris", "web").build(),
  metadata: { namespace: "karmada-es-paris", name: "web", annotations },
});

test("drift is repaired unless the policy, or rather the template, says to report it", () => {
  const report = { "flotilla.dev/drift": "report" };

  expect(planApplyPolicy(work(), manifest({}), false).drift).toBe("repair");
  expect(planApplyPolicy(work(report), manifest({}), false).drift).toBe("report");
  expect(planApplyPolicy(work(report), manifest({ "flotilla.dev/drift": "repair" }), false).drift).toBe("repair");
});

test("replicas are the member's where an autoscaler is on its way there, or the template says so", () => {
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
  "an object that a member has is taken over when the policy says so": { object: manifest(overwrite), want: true },
  "an object that a member has is left alone otherwise": { object: manifest({}), want: false },
  "a definition of OpenKruise that the hub converts by code never takes the place of the member's": {
    object: definition({}),
    want: false,
  },
  "one that names its webhook, as OpenKruise publishes it, does": {
    object: definition({ conversion: { strategy: "Webhook" } }),
    want: true,
  },
  "one with a single version does": { object: definition({ versions: [first] }), want: true },
  "a definition of another project does": { object: definition({ group: "example.dev" }), want: true },
};
for (const [behaviour, { object, want }] of Object.entries(adoptions)) {
  test(behaviour, () => {
    expect(planApplyPolicy(work(), object, false).adopt).toBe(want);
  });
}

test("a definition of OpenKruise that the hub converts by code is not put back when somebody on the member changes it", () => {
  expect(planApplyPolicy(work(), definition({}), false).drift).toBe("report");
  expect(planApplyPolicy(work(), definition({ conversion: { strategy: "Webhook" } }), false).drift).toBe("repair");
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
