/** OpenKruise's AdvancedCronJob: runs Jobs, BroadcastJobs or image pulls on a schedule. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { AdvancedCronJob as AdvancedCronJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { advancedCronJobDescriptions } from "./advancedcronjob-descriptions.ts";
import { fromStorage, toStorage } from "./advancedcronjob-versions.ts";

export type AdvancedCronJob = AdvancedCronJobFacts;

const columns: Column[] = [
  { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
  { name: "Type", type: "string", jsonPath: ".status.type" },
  { name: "LastScheduleTime", type: "date", jsonPath: ".status.lastScheduleTime" },
  AGE,
];

export const AdvancedCronJob = kruiseKind<AdvancedCronJob>({
  kind: "AdvancedCronJob",
  plural: "advancedcronjobs",
  shortNames: ["acj"],
  columns,
  workload: {
    isScheduled: true,
    hidesEndedRuns: true,
    podTemplates: ["broadcastJobTemplate", "jobTemplate"].map((of) => ["spec", "template", of, "spec", "template"]),
  },
  conversion: { toStorage, fromStorage },
  descriptions: advancedCronJobDescriptions,
});
