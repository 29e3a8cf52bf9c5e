import { expect, test } from "vitest";
import { runProgress } from "./run-progress.ts";

const cases: Record<string, { kind: string; spec?: object; status?: object; want: string | undefined }> = {
  "a Job that runs": {
    kind: "Job",
    spec: { completions: 4 },
    status: { active: 1, succeeded: 1 },
    want: "1 of 4 completions done, still running",
  },
  "a Job whose pods do not run yet": {
    kind: "Job",
    spec: { completions: 2 },
    want: "0 of 2 completions done, not done yet",
  },
  "a suspended Job": {
    kind: "Job",
    spec: { completions: 2, suspend: true },
    status: {},
    want: "0 of 2 completions done, suspended",
  },
  "a Job without a number of completions": { kind: "Job", status: { active: 2 }, want: "still running" },
  "a Job that is done": {
    kind: "Job",
    spec: { completions: 1 },
    status: { succeeded: 1, conditions: [{ type: "Complete", status: "True" }] },
    want: undefined,
  },
  "a BroadcastJob that runs": {
    kind: "BroadcastJob",
    status: { active: 1, succeeded: 2, desired: 3, phase: "running" },
    want: "2 of 3 pods done, still running",
  },
  "a BroadcastJob that is done": { kind: "BroadcastJob", status: { desired: 3, phase: "completed" }, want: undefined },
  "a Workflow that runs": { kind: "Workflow", status: { phase: "Running" }, want: "still running" },
  "a Workflow that is done": { kind: "Workflow", status: { phase: "Succeeded" }, want: undefined },
  "a Deployment": { kind: "Deployment", status: { replicas: 1 }, want: undefined },
};
const VERSIONS: Record<string, string> = {
  Job: "batch/v1",
  BroadcastJob: "apps.kruise.io/v1beta1",
  Workflow: "argoproj.io/v1alpha1",
  Deployment: "apps/v1",
};
for (const [behaviour, { want, kind, ...object }] of Object.entries(cases))
  test(`${behaviour}: ${want ?? "no progress"}`, () => {
    expect(runProgress({ apiVersion: VERSIONS[kind] ?? "", kind, metadata: { name: "run" }, ...object })).toBe(want);
  });
