/** CronJob: creates Jobs on a schedule. */
import {
  age,
  ageColumn,
  builtInKind,
  column,
  nameColumn,
  selectorCell,
  templateColumns,
  wide,
} from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CronJob as CronJobFacts } from "@flotilla/apimachinery/facts/batch-v1.ts";

export type CronJob = CronJobFacts;

export const CronJob: Kind<CronJob> = builtInKind<CronJob>({
  group: "batch",
  version: "v1",
  kind: "CronJob",
  plural: "cronjobs",
  shortNames: ["cj"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "batch-v1",
  columns: [
    nameColumn,
    column<CronJob>("Schedule", ({ spec }) => spec.schedule),
    column<CronJob>("Timezone", ({ spec }) => spec.timeZone ?? "<none>"),
    column<CronJob>(
      "Suspend",
      ({ spec }) => (spec.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False"),
      { type: "boolean" },
    ),
    column<CronJob>("Active", ({ status }) => status?.active?.length ?? 0, { type: "integer" }),
    column<CronJob>("Last Schedule", ({ status }, nowMs) =>
      status?.lastScheduleTime ? age(status.lastScheduleTime, nowMs) : "<none>",
    ),
    ageColumn,
    ...templateColumns<CronJob>(({ spec }) => spec.jobTemplate?.spec?.template?.spec?.containers ?? []),
    column<CronJob>("Selector", ({ spec }) => selectorCell(spec.jobTemplate?.spec?.selector), wide),
  ],
  subresources: { status: true },
  hasGeneration: true,
  workload: { isScheduled: true, podTemplates: [["spec", "jobTemplate", "spec", "template"]] },
});
