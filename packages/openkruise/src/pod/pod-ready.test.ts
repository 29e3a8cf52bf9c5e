import { describe, expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { addNotReadyMessage, removeNotReadyMessage, withReadyFromGates } from "./pod-ready.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const AT_NOW = "2024-05-01T12:00:00Z";
const LIFECYCLE = { userAgent: "Lifecycle", key: "preDeleteHook" };
const RECREATE = { userAgent: "ContainerRecreateRequest", key: "restart" };

function makePod(gate: { status: string; message?: string } | undefined, hasGate = true): ReadonlyPod {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "ContainersReady", status: "True" },
    ...(gate ? [{ type: "KruisePodReady", ...gate }] : []),
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: { containers: [], readinessGates: hasGate ? [{ conditionType: "KruisePodReady" }] : undefined },
    status: { conditions },
  };
}
const conditionOf = (pod: ReadonlyPod, name: string) => pod.status?.conditions?.find(({ type }) => type === name);

describe("A not-ready message", () => {
  test("sets the gate to false and makes the pod unready at once", () => {
    const after = addNotReadyMessage(makePod({ status: "True" }), LIFECYCLE, NOW);

    expect(conditionOf(after, "KruisePodReady")).toEqual({
      type: "KruisePodReady",
      status: "False",
      message: '[{"userAgent":"Lifecycle","key":"preDeleteHook"}]',
      lastTransitionTime: AT_NOW,
    });
    expect(conditionOf(after, "Ready")).toEqual({
      type: "Ready",
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: 'the status of pod readiness gate "KruisePodReady" is not "True", but False',
    });
  });

  test("is kept in order with those of other agents", () => {
    const after = addNotReadyMessage(addNotReadyMessage(makePod({ status: "True" }), LIFECYCLE, NOW), RECREATE, NOW);

    expect(conditionOf(after, "KruisePodReady")?.message).toBe(
      '[{"userAgent":"ContainerRecreateRequest","key":"restart"},{"userAgent":"Lifecycle","key":"preDeleteHook"}]',
    );
  });

  test("sets the gate to true when the last one is removed", () => {
    const both = addNotReadyMessage(addNotReadyMessage(makePod({ status: "True" }), LIFECYCLE, NOW), RECREATE, NOW);

    const one = removeNotReadyMessage(both, RECREATE, NOW);
    const none = removeNotReadyMessage(one, LIFECYCLE, NOW);

    expect([one, none].map((pod) => conditionOf(pod, "KruisePodReady")?.status)).toEqual(["False", "True"]);
  });
});

describe("returns the same pod object", () => {
  const held = addNotReadyMessage(makePod({ status: "True" }), LIFECYCLE, NOW);
  const cases: Record<string, { pod: ReadonlyPod; step(pod: ReadonlyPod): ReadonlyPod }> = {
    "when it has no gate": { pod: makePod(undefined, false), step: (pod) => addNotReadyMessage(pod, LIFECYCLE, NOW) },
    "when the message already exists": { pod: held, step: (pod) => addNotReadyMessage(pod, LIFECYCLE, NOW) },
    "when the message to remove does not exist": {
      pod: held,
      step: (pod) => removeNotReadyMessage(pod, RECREATE, NOW),
    },
    "when all gates are true": { pod: makePod({ status: "True" }), step: withReadyFromGates },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, step }) => {
    expect(step(pod)).toBe(pod);
  });
});

test("a text that is not a list of messages counts as none", () => {
  const after = addNotReadyMessage(makePod({ status: "False", message: "[broken" }), LIFECYCLE, NOW);

  expect(conditionOf(after, "KruisePodReady")?.message).toBe('[{"userAgent":"Lifecycle","key":"preDeleteHook"}]');
});
