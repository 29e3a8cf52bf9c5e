import { expect, test } from "vitest";
import { policyInterpreter, type KyvernoPolicy } from "./kyverno-rules.ts";

const rules = policyInterpreter("Policy");
const policy: KyvernoPolicy = {
  apiVersion: "kyverno.io/v1",
  kind: "Policy",
  metadata: { name: "labels", namespace: "apps" },
};
const counted = (validate: number) => ({ rulecount: { validate, generate: 0, mutate: 1, verifyimages: 0 } });

test("counts rules over all members, and the same members yield the identical policy", () => {
  const items = [
    { clusterName: "oslo", status: { ready: false, ...counted(2) } },
    { clusterName: "paris", status: { ready: true, ...counted(3) } },
  ];

  const once = rules.aggregateStatus?.(policy, items);

  expect(once?.status).toEqual({ ready: true, rulecount: { validate: 5, generate: 0, mutate: 2, verifyimages: 0 } });
  expect(rules.aggregateStatus?.(once ?? policy, items)).toBe(once);
});

test("rejects a rule count without all rule types and names the field", () => {
  const items = [{ clusterName: "oslo", status: { rulecount: { validate: 1 } } }];

  expect(() => rules.aggregateStatus?.(policy, items)).toThrow(
    "summing the status of Policy labels: rulecount.generate is not a number",
  );
});

test("generated rules are reflected without their empty fields", () => {
  const observed = {
    ...policy,
    status: { autogen: { rules: [{ name: "autogen-labels", exclude: {}, generate: {} }] } },
  };

  expect(rules.reflectStatus?.(observed)).toEqual({ autogen: { rules: [{ name: "autogen-labels" }] } });
});

test("rejects a status.ready that is neither true nor false", () => {
  expect(() => rules.isHealthy?.({ ...policy, status: { ready: "yes" } })).toThrow(
    "status.ready is neither true nor false",
  );
});
