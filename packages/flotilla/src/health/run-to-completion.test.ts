import { expect, test } from "vitest";
import { argoDefinitions, argoWorkloads } from "@flotilla/argo";
import { kubernetesDefinitions, kubernetesWorkloads, servedKinds } from "@flotilla/kubernetes";
import { kruiseDefinitions, kruiseWorkloads } from "@flotilla/openkruise";
import { hidesItsPods, isScheduled, runsOnEveryNode, runsToCompletion } from "./run-to-completion.ts";

test.each([
  ["Kubernetes", kubernetesWorkloads, kubernetesDefinitions],
  ["OpenKruise", kruiseWorkloads, kruiseDefinitions],
  ["Argo", argoWorkloads, argoDefinitions],
])("the workload kinds of %s are those that declare it", (_product, listed, definitions) => {
  const declared = servedKinds(definitions).filter(({ workload }) => workload);

  expect(new Set(listed)).toEqual(new Set(declared));
});

const traits: Record<string, [isOne: (ref: { apiVersion: string; kind: string }) => boolean, want: readonly string[]]> =
  {
    "run to completion": [runsToCompletion, ["Job", "BroadcastJob", "Workflow"]],
    "run on every node": [runsOnEveryNode, ["DaemonSet", "Advanced DaemonSet", "BroadcastJob"]],
    "start runs on a schedule": [isScheduled, ["CronJob", "AdvancedCronJob"]],
  };
const KINDS: Record<string, { apiVersion: string; kind: string }> = {
  Job: { apiVersion: "batch/v1", kind: "Job" },
  CronJob: { apiVersion: "batch/v1", kind: "CronJob" },
  DaemonSet: { apiVersion: "apps/v1", kind: "DaemonSet" },
  "Advanced DaemonSet": { apiVersion: "apps.kruise.io/v1beta1", kind: "DaemonSet" },
  BroadcastJob: { apiVersion: "apps.kruise.io/v1beta1", kind: "BroadcastJob" },
  AdvancedCronJob: { apiVersion: "apps.kruise.io/v1beta1", kind: "AdvancedCronJob" },
  Workflow: { apiVersion: "argoproj.io/v1alpha1", kind: "Workflow" },
  "a Job of another group": { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
  "a Workflow of another group": { apiVersion: "example.dev/v1", kind: "Workflow" },
};
for (const [trait, [isOne, want]] of Object.entries(traits))
  test(`${want.join(", ")} ${trait}, and kinds of the same name in other groups do not`, () => {
    const found = Object.keys(KINDS).filter((name) => isOne(KINDS[name] ?? { apiVersion: "", kind: "" }));

    expect(found).toEqual(want);
  });

test("only the status of an AdvancedCronJob does not say how its last run ended", () => {
  const status = { lastScheduleTime: "2024-05-01T12:02:00Z" };

  const hiding = Object.keys(KINDS).filter((name) => hidesItsPods(KINDS[name] ?? { apiVersion: "", kind: "" }, status));

  expect(hiding).toEqual(["AdvancedCronJob"]);
});
