import { expect, test } from "vitest";
import { argoDefinitions, argoWorkloads } from "@flotilla/argo";
import { kubernetesDefinitions, kubernetesWorkloads, servedKinds } from "@flotilla/kubernetes";
import { kruiseDefinitions, kruiseWorkloads } from "@flotilla/openkruise";
import { ON_EVERY_NODE, RUN_TO_COMPLETION, SCHEDULED_KINDS } from "./run-to-completion.ts";

test.each([
  ["Kubernetes", kubernetesWorkloads, kubernetesDefinitions],
  ["OpenKruise", kruiseWorkloads, kruiseDefinitions],
  ["Argo", argoWorkloads, argoDefinitions],
])("the workload kinds of %s are those that declare it", (_product, listed, definitions) => {
  const declared = servedKinds(definitions).filter(({ workload }) => workload);

  expect(new Set(listed)).toEqual(new Set(declared));
});

test("Jobs, BroadcastJobs and Workflows run to completion; BroadcastJobs and DaemonSets run on every node; CronJobs and AdvancedCronJobs start runs", () => {
  expect([...RUN_TO_COMPLETION]).toEqual(["Job", "BroadcastJob", "Workflow"]);
  expect([...ON_EVERY_NODE].toSorted()).toEqual(["BroadcastJob", "DaemonSet"]);
  expect([...SCHEDULED_KINDS]).toEqual(["CronJob", "AdvancedCronJob"]);
});
