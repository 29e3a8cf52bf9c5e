import { expect, test } from "vitest";
import type { Pod as PodType } from "@flotilla/apimachinery/facts/core-v1.ts";
import { resizePart } from "./pod-resize.ts";
import { rules } from "./pod-rules.ts";
import { review } from "../../../apimachinery/src/kind/test-review.ts";

const container = (requests: object = { cpu: "1", memory: "1Gi" }, rest: object = {}): object => ({
  name: "c",
  image: "i:1",
  resources: { requests },
  ...rest,
});
const make = (containers: object[] = [container()], spec: object = {}, rest: object = {}): PodType => {
  const { object } = review(rules, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: { containers: containers as never, ...spec },
  });
  return { ...object, ...rest };
};
/** Returns the errors of a spec change through the resize subresource. */
function resized(old: PodType, spec: object): string[] {
  const taken = resizePart.take({ ...old.spec, ...spec } as never, old.spec as never);
  return review(rules, { ...old, spec: taken as never }, { old, subresource: "resize" }).problems;
}

test("fields other than resources are ignored", () => {
  const old = make();

  const taken = resizePart.take(
    { nodeName: "n", containers: [container({ cpu: "2" }, { image: "other" })] } as never,
    old.spec as never,
  );

  expect(taken).toEqual({
    ...old.spec,
    containers: [{ ...old.spec.containers[0], resources: { requests: { cpu: "2" } } }],
  });
});

test("cpu and memory may change, also of init containers", () => {
  const old = make([container()], {
    initContainers: [
      container({ cpu: "1" }, { name: "i" }),
      container({ cpu: "1" }, { name: "s", restartPolicy: "Always" }),
    ],
  });

  const problems = resized(old, {
    containers: [container({ cpu: "2", memory: "2Gi" })],
    initContainers: [
      container({ cpu: "2" }, { name: "i" }),
      container({ cpu: "3" }, { name: "s", restartPolicy: "Always" }),
    ],
  });

  expect(problems).toEqual([]);
});

const POLICY = { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] };
const limits = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
const refusals: Record<string, { old?: PodType; spec: object; want: string[] }> = {
  "resources other than cpu and memory may not change": {
    spec: { containers: [container({ cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" })] },
    want: ["spec: Forbidden: only cpu and memory resources are mutable"],
  },
  "the resize policy may not change": {
    spec: { containers: [container(undefined, POLICY)] },
    want: ["spec: Forbidden: only cpu and memory resources are mutable"],
  },
  "requests may not be removed": {
    spec: { containers: [container({ cpu: "1" })] },
    want: ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
  },
  "containers may not be added": {
    spec: { containers: [container(), { name: "d", image: "i" }] },
    want: ["spec.containers: Forbidden: containers may not be added or removed on resize"],
  },
  "containers may not be renamed": {
    spec: { containers: [container(undefined, { name: "d" })] },
    want: ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"],
  },
  "the quality of service class may not change": {
    old: make([{ name: "c", image: "i", resources: limits }]),
    spec: { containers: [{ name: "c", image: "i", resources: { ...limits, limits: { cpu: "2", memory: "1Gi" } } }] },
    want: ['spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing'],
  },
  "a non-sidecar init container with the RestartContainer policy may not be resized": {
    old: make([container()], { initContainers: [container({ cpu: "1" }, { name: "i", ...POLICY })] }),
    spec: { initContainers: [container({ cpu: "2" }, { name: "i", ...POLICY })] },
    want: [
      'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be ' +
        "set to 'RestartContainer' for non-sidecar initContainers",
      "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    ],
  },
  "a pod on a node without resize support may not be resized": {
    old: make(
      [container()],
      {},
      {
        status: {
          qosClass: "Burstable",
          containerStatuses: [
            { name: "c", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } },
          ],
        },
      },
    ),
    spec: { containers: [container({ cpu: "2", memory: "1Gi" })] },
    want: ["spec: Forbidden: Pod running on node without support for resize"],
  },
  "a Windows pod may not be resized": {
    old: make([container()], { os: { name: "windows" } }),
    spec: {},
    want: ["[]: Forbidden: windows pods cannot be resized"],
  },
  "a mirror pod may not be resized": {
    old: {
      ...make([container()], { nodeName: "n" }),
      metadata: { name: "a", annotations: { "kubernetes.io/config.mirror": "x" } },
    },
    spec: {},
    want: ["[]: Forbidden: static pods cannot be resized"],
  },
  "pod-level resources may not be removed": {
    old: make([container()], { resources: { requests: { cpu: "2", memory: "2Gi" } } }),
    spec: { resources: undefined },
    want: ["spec.resources: Forbidden: pod-level resources cannot be removed"],
  },
};
for (const [behaviour, { old = make(), spec, want }] of Object.entries(refusals)) {
  test(behaviour, () => {
    expect(resized(old, spec)).toEqual(want);
  });
}

test("pod-level resources may increase", () => {
  const old = make([container()], { resources: { requests: { cpu: "2", memory: "2Gi" } } });

  expect(resized(old, { resources: { requests: { cpu: "3", memory: "2Gi" } } })).toEqual([]);
});
