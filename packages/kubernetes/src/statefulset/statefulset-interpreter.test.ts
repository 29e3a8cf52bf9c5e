import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { statefulSetInterpreter } from "./statefulset-interpreter.ts";

const member = (observedGeneration: number): KubernetesObject =>
  ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", generation: 4, annotations: { "resourcetemplate.karmada.io/generation": "2" } },
    status: { replicas: 3, observedGeneration },
  }) as unknown as KubernetesObject;
const template = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", generation: 2 },
} as KubernetesObject;
const sumOf = (...observed: number[]): unknown =>
  statefulSetInterpreter.aggregateStatus?.(
    template,
    observed.map((generation, index) => ({
      clusterName: `m${index}`,
      status: statefulSetInterpreter.reflectStatus?.(member(generation)) ?? {},
    })),
  );

test("a StatefulSet is observed once every member's controller has observed the newest template", () => {
  expect(sumOf(4, 4)).toMatchObject({ status: { replicas: 6, observedGeneration: 2 } });
});

test("a StatefulSet is not observed while one member's controller lags behind", () => {
  expect(sumOf(4, 3)).toMatchObject({ status: { replicas: 6 } });
  expect(sumOf(4, 3)).not.toHaveProperty("status.observedGeneration");
});
