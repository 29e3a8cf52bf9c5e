import { describe, expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import { readWorkload } from "../released-workload/released-workload.ts";
import type { WorkloadObject } from "../released-workload/released-workload.ts";
import type { BatchRelease } from "./batchrelease-kind.ts";
import { planBatch, planHash, targetOf } from "./plan-batch.ts";
import type { BatchStatus } from "./plan-batch.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const PLAN = { batches: [{ canaryReplicas: "20%" }, { canaryReplicas: "50%" }, { canaryReplicas: "100%" }] };

interface Given {
  plan?: Partial<BatchRelease["spec"]["releasePlan"]>;
  status?: Partial<BatchStatus>;
  annotations?: Record<string, string>;
  workload?: { spec?: object; status?: object; kind?: string; apiVersion?: string; annotations?: object };
  pods?: readonly Pod[];
  deleted?: boolean;
}

function makeWorkload({ spec, status, kind = "CloneSet", apiVersion, annotations }: Given["workload"] = {}) {
  return readWorkload({
    apiVersion: apiVersion ?? (kind === "CloneSet" ? "apps.kruise.io/v1beta1" : "apps/v1"),
    kind,
    metadata: { name: "web", namespace: "shop", generation: 2, annotations },
    spec: { replicas: 10, updateStrategy: { rollingUpdate: { partition: "100%" } }, ...spec },
    status: {
      observedGeneration: 2,
      replicas: 10,
      updatedReplicas: 0,
      updatedReadyReplicas: 0,
      currentRevision: "web-aaa",
      updateRevision: "web-bbb",
      ...status,
    },
  } as unknown as WorkloadObject);
}

function makeInput({ plan, status, annotations, workload, pods = [], deleted = false }: Given) {
  const releasePlan = { ...PLAN, batchPartition: 0, enableExtraWorkloadForCanary: false, ...plan };
  const release: BatchRelease = {
    apiVersion: "rollouts.kruise.io/v1beta1",
    kind: "BatchRelease",
    metadata: {
      name: "web",
      namespace: "shop",
      uid: "u1",
      generation: 1,
      annotations,
      deletionTimestamp: deleted ? "2026-05-01T11:59:00Z" : undefined,
    },
    spec: { workloadRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" }, releasePlan },
    status: status && {
      phase: "Progressing",
      observedReleasePlanHash: planHash(releasePlan),
      observedWorkloadReplicas: 10,
      stableRevision: "aaa",
      updateRevision: "bbb",
      ...status,
      canaryStatus: { currentBatch: 0, ...status.canaryStatus },
    },
  };
  return { release, workload: makeWorkload(workload), pods, nowMs: NOW_MS };
}

const partitionOf = (patch: unknown): unknown =>
  (patch as { spec?: { updateStrategy: { rollingUpdate: { partition: unknown } } } } | undefined)?.spec?.updateStrategy
    .rollingUpdate.partition;

test("takes control of the workload before it updates a pod", () => {
  const { status, patch } = planBatch(makeInput({}));

  expect(status).toMatchObject({ phase: "Progressing", stableRevision: "aaa", updateRevision: "bbb" });
  expect(partitionOf(patch)).toBe("100%");
  expect(JSON.stringify(patch)).toContain("batchrelease.rollouts.kruise.io/control-info");
});

const steps: Record<string, { given: Given; want: { state?: string; batch?: number; partition?: unknown } }> = {
  "lowers the partition to the batch": { given: { status: {} }, want: { state: "Upgrading", partition: "80%" } },
  "waits for pods that are not ready": {
    given: {
      status: { canaryStatus: { currentBatch: 0, batchState: "Upgrading" } },
      workload: {
        spec: { updateStrategy: { rollingUpdate: { partition: "80%" } } },
        status: { updatedReplicas: 2, updatedReadyReplicas: 1 },
      },
    },
    want: { state: "Verifying" },
  },
  "tolerates as many of them as the threshold": {
    given: {
      plan: { failureThreshold: "50%" },
      status: { canaryStatus: { currentBatch: 0, batchState: "Upgrading" } },
      workload: {
        spec: { updateStrategy: { rollingUpdate: { partition: "80%" } } },
        status: { updatedReplicas: 2, updatedReadyReplicas: 1 },
      },
    },
    want: { state: "Ready" },
  },
  "is ready with its pods": {
    given: {
      status: {},
      workload: {
        spec: { updateStrategy: { rollingUpdate: { partition: "80%" } } },
        status: { updatedReplicas: 2, updatedReadyReplicas: 2 },
      },
    },
    want: { state: "Ready", batch: 0 },
  },
  "continues with the next batch when it may": {
    given: {
      plan: { batchPartition: 1 },
      status: {},
      workload: {
        spec: { updateStrategy: { rollingUpdate: { partition: "80%" } } },
        status: { updatedReplicas: 2, updatedReadyReplicas: 2 },
      },
    },
    want: { state: "Upgrading", batch: 1 },
  },
  "never raises the partition": {
    given: { status: {}, workload: { spec: { updateStrategy: { rollingUpdate: { partition: "30%" } } } } },
    want: { state: "Upgrading", partition: undefined },
  },
  "starts a changed plan at the batch that it names": {
    given: { plan: { batchPartition: 2 }, status: { observedReleasePlanHash: "other" } },
    want: { state: "Upgrading", batch: 2, partition: "0%" },
  },
  "computes the batch again after scaling": {
    given: {
      status: { observedWorkloadReplicas: 5, canaryStatus: { currentBatch: 0, batchState: "Ready" } },
    },
    want: { state: "Upgrading", partition: "80%" },
  },
  "leaves a workload alone whose template has changed again": {
    given: { status: { updateRevision: "ccc" } },
    want: { partition: undefined },
  },
};
test.each(Object.entries(steps))("%s", (_name, { given, want }) => {
  const { status, patch } = planBatch(makeInput(given));

  const { batchState, currentBatch } = status.canaryStatus ?? { currentBatch: -1 };
  expect({ state: batchState, batch: currentBatch, partition: partitionOf(patch) }).toMatchObject(want);
});

describe("the partition of a batch", () => {
  const partition = (share: number | string, workload: Given["workload"], kept?: number): unknown => {
    const { release } = makeInput({ plan: { batches: [{ canaryReplicas: share }] } });
    return targetOf(release, { currentBatch: 0, noNeedUpdateReplicas: kept }, makeWorkload(workload)).partition;
  };

  test.each([
    ["20%", 10, "80%"],
    ["1%", 200, "99%"],
    ["50%", 3, "33%"],
    ["99%", 101, "1%"],
    ["100%", 7, "0%"],
    [3, 10, 7],
    [30, 10, 0],
  ])("of a CloneSet keeps the share of its pods: %s of %i is %s", (share, replicas, want) => {
    expect(partition(share, { spec: { replicas } })).toBe(want);
  });

  test("of a StatefulSet is an ordinal", () => {
    expect(partition("20%", { kind: "StatefulSet" })).toBe(8);
  });

  test("while it returns, counts only pods that have left the revision", () => {
    expect(partition("50%", { spec: { replicas: 10 } }, 4)).toBe("30%");
  });
});

test("gives the workload back without a partition when its release is complete", () => {
  const { status, patch } = planBatch(makeInput({ plan: { batchPartition: undefined }, status: {} }));

  expect(status.phase).toBe("Completed");
  expect(partitionOf(patch)).toBeNull();
});

test("leaves the partition when it is deleted meanwhile", () => {
  const { status, patch } = planBatch(makeInput({ status: {}, deleted: true }));

  expect(status.phase).toBe("Completed");
  expect(patch).toEqual({ metadata: { annotations: { "batchrelease.rollouts.kruise.io/control-info": null } } });
});

test("labels updated pods with the batch that has room for them", () => {
  const pod = (name: string, hash: string, labels: Record<string, string> = {}): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", labels: { "controller-revision-hash": `web-${hash}`, ...labels } },
    spec: { containers: [] },
  });
  const labelled = { "rollouts.kruise.io/rollout-id": "v2", "rollouts.kruise.io/rollout-batch-id": "1" };
  const { labels } = planBatch(
    makeInput({
      plan: { rolloutID: "v2", batchPartition: 1 },
      status: { canaryStatus: { currentBatch: 1 } },
      pods: [pod("a", "bbb", labelled), pod("b", "bbb", labelled), pod("c", "bbb"), pod("d", "aaa")],
    }),
  );

  expect(labels.map((each) => [each.pod.metadata.name, each.batch])).toEqual([["c", 2]]);
});
