import { expect, test } from "vitest";
import { InterpretError } from "@flotilla/kubernetes";
import { componentOf, replicasOr, roleDependencies } from "./components.ts";

const owner = { apiVersion: "kubeflow.org/v1", kind: "TFJob", metadata: { name: "mnist", namespace: "ml" } };

const counts: Record<string, { value: unknown; want: number }> = {
  "uses a number": { value: 3, want: 3 },
  "uses a number in a string": { value: "3", want: 3 },
  "uses zero": { value: 0, want: 0 },
  "a missing number means the default": { value: undefined, want: 1 },
  "null means the default": { value: null, want: 1 },
  "an empty string means the default": { value: "", want: 1 },
  "a word means the default": { value: "many", want: 1 },
  "a list means the default": { value: [3], want: 1 },
};
for (const [behaviour, { value, want }] of Object.entries(counts)) {
  test(behaviour, () => {
    expect(replicasOr(1, value)).toBe(want);
  });
}

test("a component has the requirements of its pods", () => {
  const template = {
    spec: { containers: [{ resources: { requests: { cpu: "500m" } } }], nodeSelector: { disk: "ssd" } },
  };

  const component = componentOf(owner, { name: "worker", template }, 2);

  expect(component).toEqual({
    name: "worker",
    replicas: 2,
    requirements: { resourceRequest: { cpu: "500m" }, nodeClaim: { nodeSelector: { disk: "ssd" } } },
  });
});

for (const template of [undefined, null, {}]) {
  test(`a component with the template ${JSON.stringify(template)} has no requirements`, () => {
    expect(componentOf(owner, { name: "worker", template }, 2)).toEqual({ name: "worker", replicas: 2 });
  });
}

for (const replicas of [1.5, 3_000_000_000, Infinity]) {
  test(`${replicas} replicas are rejected`, () => {
    expect(() => componentOf(owner, { name: "worker", template: {} }, replicas)).toThrow(
      `counting the replicas of worker in TFJob mnist: ${replicas} is not`,
    );
  });
}

const broken: Record<string, unknown> = {
  "an invalid quantity": { spec: { containers: [{ resources: { requests: { cpu: "lots" } } }] } },
  "a map instead of a list of containers": { spec: { containers: { main: {} } } },
};
for (const [what, template] of Object.entries(broken)) {
  test(`${what} is an error that names the component`, () => {
    expect(() => componentOf(owner, { name: "worker", template }, 1)).toThrow(InterpretError);
    expect(() => componentOf(owner, { name: "worker", template }, 1)).toThrow(
      "reading the pod template of worker in TFJob mnist: ",
    );
  });
}

test("lists shared dependencies of several components once, sorted by kind and name", () => {
  const volumes = [{ secret: { secretName: "token" } }, { configMap: { name: "settings" } }];
  const roles = [
    { name: "worker", template: { spec: { volumes, serviceAccountName: "trainer" } } },
    { name: "ps", template: { spec: { volumes } } },
    { name: "chief", template: undefined },
  ];

  expect(roleDependencies(owner, roles)).toEqual([
    { apiVersion: "v1", kind: "ConfigMap", namespace: "ml", name: "settings" },
    { apiVersion: "v1", kind: "Secret", namespace: "ml", name: "token" },
    { apiVersion: "v1", kind: "ServiceAccount", namespace: "ml", name: "trainer" },
  ]);
});
