import { expect, test } from "vitest";
import { makeDeployment, makeWork } from "../../testing/index.ts";
import { isUnmanaged, planApplyPolicy } from "./apply-policy.ts";

const manifest = (annotations: Record<string, string>, labels: Record<string, string> = {}) => makeDeployment("shop/web").with(({ metadata }) => Object.assign(metadata, { annotations, labels })).build();
const work = (annotations: Record<string, string> = {}) => ({ ...makeWork("paris", "web").build(), metadata: { namespace: "karmada-es-paris", name: "web", annotations } });

test("drift is repaired unless the policy, or rather the template, says to report it", () => {
  const report = { "flotilla.dev/drift": "report" };

  expect(planApplyPolicy(work(), manifest({}), false).drift).toBe("repair");
  expect(planApplyPolicy(work(report), manifest({}), false).drift).toBe("report");
  expect(planApplyPolicy(work(report), manifest({ "flotilla.dev/drift": "repair" }), false).drift).toBe("repair");
});

test("replicas are the member's where an autoscaler is on its way there, or the template says so", () => {
  expect(planApplyPolicy(work(), manifest({}), false).replicas).toBe("autoscaled");
  expect(planApplyPolicy(work(), manifest({}), true).replicas).toBe("theirs");
  expect(planApplyPolicy(work(), manifest({}, { "resourcetemplate.karmada.io/retain-replicas": "true" }), false).replicas).toBe("theirs");
});

const cases: Record<string, boolean> = { true: true, false: false, paris: true, "oslo, paris": true, oslo: false, "": false };
for (const [value, want] of Object.entries(cases)) {
  test(`a template whose annotation is ${JSON.stringify(value)} is ${want ? "left alone" : "managed"} on paris`, () => {
    expect(isUnmanaged(manifest({ "flotilla.dev/unmanaged": value }), "paris")).toBe(want);
  });
}
