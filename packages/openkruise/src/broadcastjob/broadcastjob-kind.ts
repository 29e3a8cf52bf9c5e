/** OpenKruise's BroadcastJob: runs a pod to completion on every node. Its two versions are identical. */
import { AGE } from "@flotilla/apimachinery";
import type { BroadcastJob as BroadcastJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import { sameFields } from "../api/conversion.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { broadcastJobDescriptions } from "./broadcastjob-descriptions.ts";

export type BroadcastJob = BroadcastJobFacts;

const columns: Column[] = [
  count("Desired", ".status.desired"),
  count("Active", ".status.active"),
  count("Succeeded", ".status.succeeded"),
  count("Failed", ".status.failed"),
  AGE,
];

export const BroadcastJob = kruiseKind<BroadcastJob>({
  kind: "BroadcastJob",
  plural: "broadcastjobs",
  shortNames: ["bcj"],
  columns,
  workload: { runsToCompletion: true, runsOnEveryNode: true },
  conversion: sameFields,
  descriptions: broadcastJobDescriptions,
});
