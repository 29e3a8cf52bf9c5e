/** OpenKruise's BroadcastJob: runs a pod to completion on every node. Its two versions are identical. */
import type { JsonObject } from "../../base/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { AGE } from "../define.ts";
import type { BroadcastJob as BroadcastJobFacts } from "../facts/apps-kruise-v1beta1.ts";
import type { Column } from "../kind.ts";
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
