import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { makeBinding } from "@flotilla/testing/builders.ts";
import { jobItems, keepCounters } from "./job-items.ts";

const NOW = "2024-05-01T12:00:00Z";

const makeJob = (status: object, spec: object = {}): KubernetesObject =>
  ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "seed", namespace: "shop", uid: "u" },
    spec: { completions: 9, parallelism: 3, ...spec },
    status,
  }) as KubernetesObject;

const makeWork = (cluster: string, succeeded: number, deletionTimestamp?: string): Work =>
  ({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "seed", namespace: `karmada-es-${cluster}`, uid: `work-${cluster}`, deletionTimestamp },
    spec: { workload: { manifests: [{ spec: { completions: 3 } }] } },
    status: {
      conditions: [{ type: "Applied", status: "True" }],
      manifestStatuses: [{ status: { succeeded, active: 1 } }],
    },
  }) as unknown as Work;

const recordedIn = (deletionTimestamp?: string): (string | undefined)[] =>
  jobItems(
    makeBinding(makeJob({}))
      .targets({ member1: 2, member2: 1 })
      .with((binding) => {
        binding.spec.placement = { replicaScheduling: { replicaSchedulingType: "Divided" } };
      })
      .build(),
    makeJob({}),
    [makeWork("member1", 1), makeWork("member2", 1), makeWork("member3", 1, deletionTimestamp)],
    NOW,
  ).map(({ clusterName }) => clusterName);

test("what a member finished counts once while its Work still reports, and the member whose Job is created again too", () => {
  expect(recordedIn()).toEqual([""]);
});

test("what a member finished counts from the record once its Work is being deleted", () => {
  expect(recordedIn(NOW)).toEqual(["member3", ""]);
});

const sums: Record<string, { spec?: object; before: object; after: object; want: object }> = {
  "keeps both counters when the sum is lower": {
    before: { succeeded: 4, failed: 2, active: 3 },
    after: { succeeded: 3, active: 2 },
    want: { succeeded: 4, failed: 2, active: 2 },
  },
  "takes a higher sum": {
    before: { succeeded: 4 },
    after: { succeeded: 5, failed: 1 },
    want: { succeeded: 5, failed: 1 },
  },
  "lets a Job that may be resized have fewer completions": {
    spec: { completionMode: "Indexed", completions: 3, parallelism: 3 },
    before: { succeeded: 4, failed: 1 },
    after: { succeeded: 3 },
    want: { succeeded: 3, failed: 1 },
  },
};
for (const [name, { spec, before, after, want }] of Object.entries(sums))
  test(`the status of a Job ${name}`, () => {
    const kept = keepCounters(makeJob(before, spec), makeJob(after, spec)) as { status?: unknown };

    expect(kept.status).toEqual(want);
  });
