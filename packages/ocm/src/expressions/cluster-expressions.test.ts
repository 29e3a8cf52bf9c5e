import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import {
  clusterSelectorProblem,
  compileClusterSelector,
  compileConditionRule,
  createScoreLibrary,
} from "./cluster-expressions.ts";
import { dynamicValueOf } from "../../../cel/src/values/dynamic-values.ts";
import { CelDouble, CelError, type CelValue } from "../../../cel/src/values/values.ts";

const cluster = {
  metadata: {
    name: "paris",
    labels: { region: "eu", version: "v1.36.1" },
    annotations: { models: '{"gpu":["a100","h100"],"count":3}' },
  },
  status: {
    allocatable: { cpu: "8", memory: "32Gi" },
    version: { kubernetes: "v1.36.1" },
    clusterClaims: [{ name: "zone", value: "a" }],
  },
} satisfies Json;

const library = createScoreLibrary((name, score) =>
  name === "paris" && score === "demo"
    ? [
        { name: "cpu", value: 66 },
        { name: "memory", value: -55 },
      ]
    : undefined,
);

function run(expression: string, json: Json = cluster): { value: CelValue; cost: number } {
  const { program, errors } = compileClusterSelector(expression, library);
  if (!program) throw new Error(errors);
  const budget = { remaining: 10_000_000 };
  const value = program.evaluate({ managedCluster: dynamicValueOf(json) }, budget);
  return { value, cost: 10_000_000 - budget.remaining };
}

const selects: Record<string, boolean> = {
  'managedCluster.metadata.labels["region"] == "eu"': true,
  'managedCluster.metadata.labels["version"].matches("^v1\\\\.(3[0-5])\\\\.\\\\d+$")': false,
  'managedCluster.status.clusterClaims.exists(c, c.name == "zone" && c.value in ["a", "b"])': true,
  'quantity(managedCluster.status.allocatable.memory).isGreaterThan(quantity("16Gi"))': true,
  'semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("1.30.0"))': true,
  'managedCluster.scores("demo").filter(s, s.name == "cpu").all(e, e.value > 60)': true,
  'managedCluster.scores("demo") == [{"name": "cpu", "value": 66}, {"name": "memory", "value": -55}]': true,
  'managedCluster.metadata.annotations["models"].parseJSON().gpu.exists(m, m == "h100")': true,
  'managedCluster.metadata.annotations["models"].parseJSON().count == 3.0': true,
  "managedCluster.?spec.?taints.hasValue()": false,
};
for (const [expression, want] of Object.entries(selects)) {
  test(`${want ? "selects" : "leaves out"}: ${expression}`, () => {
    expect(run(expression).value).toBe(want);
  });
}

const fails: Record<string, string> = {
  'managedCluster.scores("none").size() > 0':
    'failed to get score: addonplacementscore.cluster.open-cluster-management.io "none" not found',
  '{"metadata": {}}.scores("demo").size() > 0': "failed to get cluster name",
  '{}.scores("demo").size() > 0': "failed to get cluster metadata",
  '"x".scores("demo").size() > 0': "no such overload",
  "managedCluster.spec.x == 1": "no such key: spec",
};
for (const [expression, why] of Object.entries(fails)) {
  test(`fails at run time: ${expression}`, () => {
    expect(run(expression).value).toEqual(new CelError(why));
  });
}

test("parseJSON of invalid JSON fails with an error", () => {
  expect((run('"{".parseJSON() == 1').value as CelError).message).toMatch(/^failed to parse json: /);
});

const costs: Record<string, number> = {
  'managedCluster.scores("demo")': 10 + 2 * 31 + 1,
  '"hello".parseJSON()': 1,
  '\'{"key":"value"}\'.parseJSON()': 32,
  '\'{"nested": {"key": "value"}}\'.parseJSON()': 63,
  "'[1,2,3]'.parseJSON()": 11,
};
for (const [expression, cost] of Object.entries(costs)) {
  test(`costs ${cost}: ${expression}`, () => {
    expect(run(expression).cost).toBe(cost);
  });
}

test("compile errors include their position", () => {
  expect(compileClusterSelector("managedCluster.metadata.name ==").errors).toMatch(
    /^compilation failed: ERROR: <input>:1:32: Syntax error/,
  );
  expect(compileClusterSelector("cluster.metadata").errors).toMatch(/undeclared reference to 'cluster'/);
  expect(compileClusterSelector("hasConditions(managedCluster)").errors).toMatch(
    /undeclared reference to 'hasConditions'/,
  );
});

const judged: Record<string, CelValue> = {
  "hasConditions(object.status)": true,
  "hasConditions(object)": false,
  "hasConditions(null)": false,
  "hasConditions({'conditions': []})": false,
  'object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")': true,
  "object.spec.replicas + 1": 4,
  "object.spec.share": new CelDouble(0.5),
};
for (const [expression, want] of Object.entries(judged)) {
  test(`of an object: ${expression}`, () => {
    const object = dynamicValueOf({
      spec: { replicas: 3, share: 0.5 },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });

    expect(compileConditionRule(expression).program?.evaluate({ object }, { remaining: 1_000_000 })).toEqual(want);
  });
}

test("a message expression may use the result, a rule may not", () => {
  const message = compileConditionRule('result ? "fine" : object.status.reason', { isMessage: true });

  expect(message.program?.evaluate({ object: null, result: true }, { remaining: 1_000_000 })).toBe("fine");
  expect(compileConditionRule("result").errors).toContain("undeclared reference to 'result'");
});

test("an expression that can never select a cluster is reported", () => {
  expect(clusterSelectorProblem("managedCluster.metadata.name == 'a'")).toBeUndefined();
  expect(clusterSelectorProblem("managedCluster.spec.hubAcceptsClient")).toBeUndefined();
  expect(clusterSelectorProblem("'a' + 'b'")).toBe("must evaluate to bool, not string");
  expect(clusterSelectorProblem("managedCluster.metadata.name.matches('[')")).toMatch(/invalid matches argument/);
  expect(clusterSelectorProblem("managedCluster.")).toMatch(/Syntax error/);
});

test("properties that JavaScript objects inherit are not fields", () => {
  expect(
    run("has(managedCluster.__proto__) || has(managedCluster.constructor) || 'toString' in managedCluster").value,
  ).toBe(false);
});
