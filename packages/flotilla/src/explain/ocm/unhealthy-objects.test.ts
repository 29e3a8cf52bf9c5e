import { expect, test } from "vitest";
import type { ManifestWork } from "@flotilla/ocm";
import { unhealthyObjects } from "./explain-work.ts";

/** A work with one manifest, which its agent reports as progressing. */
const makeProgressing = (group: string, version: string, kind: string): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name: "nightly", namespace: "oslo" },
  spec: { workload: { manifests: [] } },
  status: {
    resourceStatus: {
      manifests: [
        {
          resourceMeta: { ordinal: 0, group, version, kind, name: "backup", namespace: "shop" },
          conditions: [
            {
              type: "Progressing",
              status: "True",
              reason: "Progressing",
              message: "1 of 2 is ready",
              lastTransitionTime: "2024-05-01T00:00:00Z",
            },
          ],
        },
      ],
    },
  },
});

test("a Job that progresses runs, and is not unhealthy", () => {
  expect(unhealthyObjects(makeProgressing("batch", "v1", "Job"))).toEqual([]);
});

test("an object of another group whose kind is called Job is unhealthy while it progresses", () => {
  expect(unhealthyObjects(makeProgressing("batch.volcano.sh", "v1alpha1", "Job"))).toMatchObject([
    { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", unhealthy: "1 of 2 is ready" },
  ]);
});
