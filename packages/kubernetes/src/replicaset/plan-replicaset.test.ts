import { describe, expect, test } from "vitest";
import { TerminalError } from "@flotilla/base";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { planReplicaSetStatus, planReplicas } from "./plan-replicaset.ts";
import type { ReadonlyReplicaSet } from "./plan-replicaset.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const labels = { app: "web" };

function makeReplicaSet(replicas: number, spec: Partial<ReadonlyReplicaSet["spec"]> = {}): ReadonlyReplicaSet {
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: "shop", generation: 3 },
    spec: { replicas, selector: { matchLabels: labels }, template, ...spec },
  };
}

function makePod(
  name: string,
  fields: { labels?: Record<string, string>; node?: string; ready?: boolean; phase?: "Running" | "Failed" } = {},
): ReadonlyPod {
  const { node = "a", ready = true, phase = "Running" } = fields;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: fields.labels ?? labels },
    spec: { containers: [], nodeName: node },
    status: {
      phase,
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: "2024-05-01T11:00:00Z" }],
    },
  };
}
const names = (pods: readonly ReadonlyPod[]): string[] => pods.map(({ metadata }) => metadata.name);

describe("a ReplicaSet", () => {
  test("creates missing pods, not counting failed ones", () => {
    const plan = planReplicas(makeReplicaSet(3), [makePod("a"), makePod("b", { phase: "Failed" })], []);

    expect(plan.create).toBe(2);
  });

  test("creates at most 500 pods at a time", () => {
    expect(planReplicas(makeReplicaSet(10_000), [], []).create).toBe(500);
  });

  test("deletes unready pods first", () => {
    const plan = planReplicas(makeReplicaSet(1), [makePod("ready"), makePod("unready", { ready: false })], []);

    expect(names(plan.remove)).toEqual(["unready"]);
  });

  test("deletes pods that share a node with others of the same Deployment", () => {
    const pods = [makePod("alone", { node: "a" }), makePod("crowded", { node: "b" })];
    const siblings = [makePod("sibling", { node: "b" })];

    const plan = planReplicas(makeReplicaSet(1), pods, siblings);

    expect(names(plan.remove)).toEqual(["crowded"]);
  });

  test("releases a pod whose labels no longer match, and replaces it", () => {
    const plan = planReplicas(makeReplicaSet(1), [makePod("taken-aside", { labels: { app: "debug" } })], []);

    expect([names(plan.release), plan.create]).toEqual([["taken-aside"], 1]);
  });

  test("does not start if its selector does not match its pods", () => {
    expect(() => planReplicas(makeReplicaSet(1, { selector: { matchLabels: { app: "other" } } }), [], [])).toThrow(
      TerminalError,
    );
  });
});

describe("the status of a ReplicaSet", () => {
  test("counts ready, available and fully labeled pods, and omits zeros", () => {
    const status = planReplicaSetStatus(
      makeReplicaSet(2, { minReadySeconds: 7_200 }),
      [makePod("a"), makePod("b", { ready: false })],
      NOW,
    );

    expect(status).toEqual({ replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 1, observedGeneration: 3 });
  });

  test("reports a failure until a reconcile succeeds", () => {
    const failed = planReplicaSetStatus(makeReplicaSet(1), [], NOW, { reason: "FailedCreate", message: "quota" });
    const recovered = planReplicaSetStatus({ ...makeReplicaSet(1), status: failed }, [], NOW);

    expect(failed.conditions).toEqual([
      {
        type: "ReplicaFailure",
        status: "True",
        reason: "FailedCreate",
        message: "quota",
        lastTransitionTime: "2024-05-01T12:00:00Z",
      },
    ]);
    expect(recovered.conditions).toBeUndefined();
  });
});
