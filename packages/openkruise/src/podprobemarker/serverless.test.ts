import { expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";
import { serverlessMetadata, withCarriedProbes } from "./serverless.ts";

const makePod = (conditions: { type: string; status: string }[] = []): ReadonlyPod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", labels: { app: "web" } },
  spec: { containers: [{ name: "main", image: "web:1" }] },
  status: { conditions },
});

const makeMarker = (name: string, probe: Partial<ReadonlyMarker["spec"]["probes"][number]> = {}): ReadonlyMarker => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "PodProbeMarker",
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: "web" } },
    probes: [
      {
        name: "idle",
        containerName: "main",
        probe: { exec: { command: ["true"] } },
        podConditionType: "idle",
        markerPolicy: [{ state: "Succeeded", labels: { idle: "true" } }],
        ...probe,
      },
    ],
  },
});

test("a new pod carries its probes without their policies", () => {
  const { annotations = {} } = withCarriedProbes(makePod(), [makeMarker("game")]).metadata;

  expect(annotations["kruise.io/podprobemarker-list"]).toBe("game");
  expect(JSON.parse(annotations["kruise.io/podprobe"] ?? "")).toEqual([
    { name: "idle", containerName: "main", probe: { exec: { command: ["true"] } }, podConditionType: "idle" },
  ]);
});

test("of two probes for one condition the pod carries the first", () => {
  const { annotations = {} } = withCarriedProbes(makePod(), [
    makeMarker("a"),
    makeMarker("b", { name: "two" }),
  ]).metadata;

  expect(annotations["kruise.io/podprobemarker-list"]).toBe("a");
});

test("a pod without the container, or a probe without a condition, carries nothing", () => {
  const pod = makePod();

  expect(withCarriedProbes(pod, [makeMarker("a", { containerName: "gone" })])).toBe(pod);
  expect(withCarriedProbes(pod, [makeMarker("a", { podConditionType: undefined })])).toBe(pod);
});

test("the condition that the provider of the node reports gives the pod its labels", () => {
  expect(serverlessMetadata(makePod([{ type: "idle", status: "True" }]), makeMarker("game"))).toEqual({
    labels: { app: "web", idle: "true" },
    annotations: {},
  });
  expect(serverlessMetadata(makePod([{ type: "idle", status: "False" }]), makeMarker("game"))).toBeUndefined();
});
