import { expect, test } from "vitest";
import type { Pod as PodType } from "../facts/core-v1.ts";
import { resizePart } from "./pod-resize.ts";
import { admissions } from "./pod.ts";
import { review } from "../test-review.ts";

const container = (requests: object = { cpu: "1", memory: "1Gi" }, rest: object = {}): object => ({
  name: "c",
  image: "i:1",
  resources: { requests },
  ...rest,
});
const make = (containers: object[] = [container()], spec: object = {}, rest: object = {}): PodType => {
  const { object } = review(admissions, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: { containers: containers as never, ...spec },
  });
  return { ...object, ...rest };
};
/** What is wrong with changing the spec to this through the subresource. */
function resized(old: PodType, spec: object): string[] {
  const taken = resizePart.take({ ...old.spec, ...spec } as never, old.spec as never);
  return review(admissions, { ...old, spec: taken as never }, { old, subresource: "resize" }).problems;
}

test("what is sent beside resources is not looked at", () => {
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

test("cpu and memory may change, also of containers that run first", () => {
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
  "other resources may not": {
    spec: { containers: [container({ cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" })] },
    want: ["spec: Forbidden: only cpu and memory resources are mutable"],
  },
  "the policy for resizing may not": {
    spec: { containers: [container(undefined, POLICY)] },
    want: ["spec: Forbidden: only cpu and memory resources are mutable"],
  },
  "what is asked for may not go away": {
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
  "the quality of service may not": {
    old: make([{ name: "c", image: "i", resources: limits }]),
    spec: { containers: [{ name: "c", image: "i", resources: { ...limits, limits: { cpu: "2", memory: "1Gi" } } }] },
    want: ['spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing'],
  },
  "an init container that would restart may not": {
    old: make([container()], { initContainers: [container({ cpu: "1" }, { name: "i", ...POLICY })] }),
    spec: { initContainers: [container({ cpu: "2" }, { name: "i", ...POLICY })] },
    want: [
      "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers",
      "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    ],
  },
  "a pod on a node that cannot resize may not": {
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
  "a pod for Windows may not": {
    old: make([container()], { os: { name: "windows" } }),
    spec: {},
    want: ["[]: Forbidden: windows pods cannot be resized"],
  },
  "a pod that is a file on a node may not": {
    old: {
      ...make([container()], { nodeName: "n" }),
      metadata: { name: "a", annotations: { "kubernetes.io/config.mirror": "x" } },
    },
    spec: {},
    want: ["[]: Forbidden: static pods cannot be resized"],
  },
  "what a pod has as a whole may not go away": {
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

test("a pod may have more as a whole", () => {
  const old = make([container()], { resources: { requests: { cpu: "2", memory: "2Gi" } } });

  expect(resized(old, { resources: { requests: { cpu: "3", memory: "2Gi" } } })).toEqual([]);
});
