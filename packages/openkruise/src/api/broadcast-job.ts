/** OpenKruise's BroadcastJob: runs a pod to completion on every node. Its two versions are identical. */
import type { JsonObject } from "@flotilla/base";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { AGE } from "@flotilla/apimachinery";
import type { BroadcastJob as BroadcastJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { Column } from "@flotilla/apimachinery";
import { count } from "./columns.ts";
import { checkBroadcastJob, completeBroadcastJob } from "./broadcast-job-rules.ts";
import type { KruiseGates } from "./gates.ts";
import { OPEN_TEMPLATES } from "./template-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

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
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(BroadcastJob, {
    name: "broadcastjob",
    code: 500,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeBroadcastJob(gates),
    check: checkBroadcastJob,
  }),
];
