/** OpenKruise's BroadcastJob: runs a pod to completion on every node. Its two versions are identical. */
import type { JsonObject } from "@flotilla/base";
import { AGE } from "@flotilla/apimachinery";
import type { BroadcastJob as BroadcastJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
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

const toStorage = (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1beta1" });
const fromStorage = (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1alpha1" });

export const BroadcastJob = kruiseKind<BroadcastJob>({
  kind: "BroadcastJob",
  plural: "broadcastjobs",
  shortNames: ["bcj"],
  columns,
  workload: { runsToCompletion: true },
  conversion: { toStorage, fromStorage },
  descriptions: broadcastJobDescriptions,
});
