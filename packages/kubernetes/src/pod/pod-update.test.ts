import { expect, test } from "vitest";
import type { Pod as PodType } from "@flotilla/apimachinery/facts/core-v1.ts";
import { rules } from "./pod-rules.ts";
import { makeReview, review } from "../../../apimachinery/src/kind/test-review.ts";

const make = (spec: object = {}, metadata: object = {}): PodType =>
  review(rules, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", ...metadata },
    spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
  }).object;
const updated = (old: PodType, spec: object, rest: { byController?: true } = {}): string[] =>
  review(rules, { ...old, spec: { ...old.spec, ...spec } }, { old, ...rest }).problems;
const RULE = /^spec: Forbidden: pod updates may not change fields other than/;

test("an image may change on a running pod", () => {
  expect(updated(make(), { containers: [{ name: "c", image: "i:2" }] })).toEqual([]);
});

test("any other change is rejected with the changed fields", () => {
  const [problem = ""] = updated(make(), {
    containers: [{ name: "c", image: "i:1", env: [{ name: "A", value: "b" }] }],
  });

  expect(problem).toMatch(RULE);
  expect(problem).toMatch(/; changed: `spec\.containers\[0\]\.env`$/);
});

const exactly = (text: string): RegExp => new RegExp(`^${RegExp.escape(text)}$`);

const refusals: Record<string, [old: object, spec: object, want: RegExp]> = {
  "containers may not be added or removed": [
    {},
    { containers: [] },
    exactly("spec.containers: Forbidden: pod updates may not add or remove containers"),
  ],
  "activeDeadlineSeconds may only decrease, and not be removed": [
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: 9 },
    exactly("spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to previous value"),
  ],
  "tolerations may only be added": [
    { tolerations: [{ key: "a", operator: "Exists" }] },
    { tolerations: [] },
    exactly("spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"),
  ],
  "scheduling gates may only be removed": [
    { schedulingGates: [{ name: "a.b/c" }] },
    { schedulingGates: [{ name: "a.b/d" }] },
    exactly("spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a.b/d'"),
  ],
  "nodeName is set through a Binding": [{}, { nodeName: "n" }, RULE],
};
for (const [behaviour, [old, spec, want]] of Object.entries(refusals)) {
  test(behaviour, () => {
    expect(updated(make(old), spec)).toContainEqual(expect.stringMatching(want));
  });
}

test("a gated pod may be narrowed to fewer nodes", () => {
  const gated = make({ schedulingGates: [{ name: "a.b/c" }], nodeSelector: { a: "b" } });

  expect(updated(gated, { nodeSelector: { a: "b", c: "d" } })).toEqual([]);
  expect(updated(gated, { nodeSelector: {} })).toContain(
    "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)",
  );
});

test("the scheduler of simulated members sets nodeName directly, once", () => {
  const old = make();
  const bound: PodType = { ...old, spec: { ...old.spec, nodeName: "n1" } };

  expect(updated(old, { nodeName: "n1" }, { byController: true })).toEqual([]);
  expect(updated(bound, { nodeName: "n2" }, { byController: true })[0]).toMatch(RULE);
});

test("only nodeName is validated when a settled pod just gets its node", () => {
  const settled = make();
  const placed = (spec: object, metadata: object = {}): unknown => {
    const object: PodType = {
      ...settled,
      metadata: { ...settled.metadata, ...metadata },
      spec: { ...settled.spec, ...spec },
    };
    return rules[0]
      ?.validate?.({ ...makeReview(object, settled), settled, byController: true })
      .map(({ field }) => field);
  };

  expect(placed({ nodeName: "n1" }, { labels: { zone: "a" } })).toEqual([]);
  expect(placed({ nodeName: "not a name" })).toEqual(["spec.nodeName"]);
  expect(placed({ nodeName: "n1", hostNetwork: true })).toEqual(["spec"]);
  expect(placed({ nodeName: "n1", restartPolicy: undefined })).toContain("spec.restartPolicy");
});

const reported = (status: object, before: object = {}): string[] => {
  const old = {
    ...make({ restartPolicy: "Never" }),
    status: { phase: "Pending", qosClass: "BestEffort", ...before },
  } as PodType;
  return review(rules, { ...old, status: { qosClass: "BestEffort", ...status } }, { old, subresource: "status" })
    .problems;
};

test("status conditions need a valid type, and podIPs at most one address per family", () => {
  expect(
    reported({
      conditions: [
        { type: "Ready", status: "True" },
        { type: "a b", status: "True" },
      ],
    })[0],
  ).toMatch(/^status\.conditions\[1\]\.Type: Invalid value: "a b"/);
  expect(reported({ podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] })).toEqual([
    'status.podIPs: Invalid value: [{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}]: may specify no more than one IP for each IP family',
  ]);
});

test("a container that terminated permanently does not run again", () => {
  const ended = { containerStatuses: [{ name: "c", state: { terminated: { exitCode: 0 } } }] };

  expect(reported({ containerStatuses: [{ name: "c", state: { running: {} } }] }, ended)).toEqual([
    "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
  ]);
});

test("the quality of service class is immutable, and kept when a kubelet omits it", () => {
  const old = make();

  const { object, problems } = review(
    rules,
    { ...old, status: { phase: "Running", podIP: "1.2.3.4" } },
    { old, subresource: "status" },
  );

  expect(problems).toEqual([]);
  expect(object.status).toEqual({
    phase: "Running",
    podIP: "1.2.3.4",
    podIPs: [{ ip: "1.2.3.4" }],
    qosClass: "BestEffort",
  });
});
