import { expect, test } from "vitest";
import { InterpretError } from "../interpret-error.ts";
import { componentOf, replicasOr, roleDependencies } from "./components.ts";

const owner = { apiVersion: "kubeflow.org/v1", kind: "TFJob", metadata: { name: "mnist", namespace: "ml" } };

const counts: Record<string, { value: unknown; want: number }> = {
  "a number counts": { value: 3, want: 3 },
  "a number in a text counts": { value: "3", want: 3 },
  "zero counts": { value: 0, want: 0 },
  "a missing number stands for the default": { value: undefined, want: 1 },
  "null stands for the default": { value: null, want: 1 },
  "an empty text stands for the default": { value: "", want: 1 },
  "a word stands for the default": { value: "many", want: 1 },
  "a list stands for the default": { value: [3], want: 1 },
};
for (const [behaviour, { value, want }] of Object.entries(counts)) {
  test(behaviour, () => {
    expect(replicasOr(1, value)).toBe(want);
  });
}

test("a component asks for what its pods ask for", () => {
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
  test(`a component with the template ${JSON.stringify(template)} asks for nothing`, () => {
    expect(componentOf(owner, { name: "worker", template }, 2)).toEqual({ name: "worker", replicas: 2 });
  });
}

for (const replicas of [1.5, 3_000_000_000, Infinity]) {
  test(`${replicas} replicas are refused`, () => {
    expect(() => componentOf(owner, { name: "worker", template: {} }, replicas)).toThrow(
      `counting the replicas of worker in TFJob mnist: ${replicas} is not`,
    );
  });
}

const broken: Record<string, unknown> = {
  "a quantity that is none": { spec: { containers: [{ resources: { requests: { cpu: "lots" } } }] } },
  "a map where containers belong": { spec: { containers: { main: {} } } },
};
for (const [what, template] of Object.entries(broken)) {
  test(`${what} is an error that names the component`, () => {
    expect(() => componentOf(owner, { name: "worker", template }, 1)).toThrow(InterpretError);
    expect(() => componentOf(owner, { name: "worker", template }, 1)).toThrow(
      "reading the pod template of worker in TFJob mnist: ",
    );
  });
}

test("what several components refer to is listed once, by kind and name", () => {
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
