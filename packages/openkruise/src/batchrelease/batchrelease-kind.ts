/** kruise-rollout's BatchRelease: updates a workload up to a batch. Rollouts create them. */
import { AGE } from "@flotilla/apimachinery";
import type { BatchRelease as BatchReleaseFacts } from "@flotilla/apimachinery/facts/rollouts-kruise-v1beta1.ts";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { batchReleaseDescriptions } from "./batchrelease-descriptions.ts";
import { fromStorage, toStorage } from "./batchrelease-versions.ts";

export type BatchRelease = BatchReleaseFacts;

/** As the CRD has them, although the path of the kind exists in v1alpha1 only. */
const columns: Column[] = [
  { name: "KIND", type: "string", jsonPath: ".spec.targetReference.workloadRef.kind" },
  { name: "PHASE", type: "string", jsonPath: ".status.phase" },
  count("BATCH", ".status.canaryStatus.currentBatch"),
  { name: "BATCH-STATE", type: "string", jsonPath: ".status.canaryStatus.batchState" },
  { ...AGE, name: "AGE" },
];

export const BatchRelease = kruiseKind<BatchRelease>({
  group: "rollouts.kruise.io",
  kind: "BatchRelease",
  plural: "batchreleases",
  columns,
  conversion: { toStorage, fromStorage },
  descriptions: batchReleaseDescriptions,
});
