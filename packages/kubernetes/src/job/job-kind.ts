/** Job: runs pods until enough of them have succeeded. */
import type { DeepReadonly } from "@flotilla/base";
import {
  ageColumn,
  builtInKind,
  column,
  formatAge,
  nameColumn,
  selectorCell,
  templateColumns,
  wide,
} from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Job as JobFacts } from "@flotilla/apimachinery/facts/batch-v1.ts";
import { hasJobCondition } from "./job-conditions.ts";

export type Job = JobFacts;
type Read = DeepReadonly<Job>;

function statusCell(job: Read): string {
  if (hasJobCondition(job, "Complete")) return "Complete";
  if (hasJobCondition(job, "Failed")) return "Failed";
  if (job.metadata.deletionTimestamp) return "Terminating";
  for (const type of ["Suspended", "FailureTarget", "SuccessCriteriaMet"] as const)
    if (hasJobCondition(job, type)) return type;
  return "Running";
}

function completionsCell({ spec, status }: Read): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Read, nowMs: number): string {
  if (!status?.startTime) return "";
  return formatAge((status.completionTime ? Date.parse(status.completionTime) : nowMs) - Date.parse(status.startTime));
}

export const Job: Kind<Job> = builtInKind<Job>({
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  categories: ["all"],
  scope: "Namespaced",
  facts: "batch-v1",
  columns: [
    nameColumn,
    column<Job>("Status", statusCell),
    column<Job>("Completions", completionsCell),
    column<Job>("Duration", durationCell),
    ageColumn,
    ...templateColumns<Job>(({ spec }) => spec?.template?.spec?.containers ?? []),
    column<Job>("Selector", ({ spec }) => selectorCell(spec?.selector), wide),
  ],
  subresources: { status: true },
  hasGeneration: true,
  workload: { runsToCompletion: true },
  traits: {
    orphansDependents: true,
    metadataChecks: { update: true, create: true },
    selectableFields: {
      "status.successful": ({ status }) => String((status as { succeeded?: number } | undefined)?.succeeded ?? 0),
    },
  },
});
