import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { removedLimit } from "./release-reach.ts";

const cloneSet = (spec: object): KubernetesObject =>
  ({ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", metadata: { name: "web" }, spec }) as never;
const template = cloneSet({ replicas: 10, updateStrategy: { partition: 4 } });

test.each([
  ["without its strategy", { replicas: 5 }, "spec.updateStrategy.partition"],
  ["without its partition", { replicas: 5, updateStrategy: {} }, "spec.updateStrategy.partition"],
  ["with another partition", { replicas: 5, updateStrategy: { partition: 1 } }, undefined],
  ["without pods", { replicas: 0 }, undefined],
  ["that is paused instead", { replicas: 5, updateStrategy: { paused: true } }, undefined],
])("a copy %s", (_, spec, path) => {
  expect(removedLimit(template, cloneSet(spec))).toBe(path);
});

test("a template that keeps no pod back limits nothing", () => {
  expect(removedLimit(cloneSet({ replicas: 10, updateStrategy: { partition: 0 } }), cloneSet({ replicas: 5 }))).toBe(
    undefined,
  );
});
