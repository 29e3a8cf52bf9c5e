import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { makeBinding } from "@flotilla/testing/builders.ts";
import { planJob } from "./plan-job.ts";

const NOW = "2024-05-01T12:00:00Z";

type Job = KubernetesObject & {
  spec: { completions?: number; parallelism: number; completionMode: "Indexed" | undefined };
  status?: object;
};
const makeJob = (completions?: number, status?: object, completionMode?: "Indexed"): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "seed", namespace: "shop", uid: "u" },
  spec: { completions, parallelism: 4, completionMode },
  status,
});

interface Given {
  completions?: number;
  succeeded?: number;
  active?: number;
  finished?: boolean;
  deleted?: boolean;
  away?: boolean;
}
const makeWork = (cluster: string, given: Given): Work =>
  ({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name: "seed",
      namespace: `karmada-es-${cluster}`,
      uid: `work-${cluster}`,
      deletionTimestamp: given.deleted ? NOW : undefined,
    },
    spec: { workload: { manifests: [{ spec: { completions: given.completions } }] } },
    status: {
      conditions: [{ type: "Applied", status: given.away ? "False" : "True" }],
      manifestStatuses: [
        {
          status: {
            succeeded: given.succeeded ?? 0,
            active: given.active ?? 0,
            conditions: given.finished ? [{ type: "Complete", status: "True" }] : [],
          },
        },
      ],
    },
  }) as unknown as Work;

const makeBound = (targets: Record<string, number>, annotations: Record<string, string> = {}): ResourceBinding =>
  makeBinding(makeJob())
    .targets(targets)
    .with((binding) => {
      binding.metadata.annotations = annotations;
      binding.spec.placement = { replicaScheduling: { replicaSchedulingType: "Divided" } };
    })
    .build();
const record = (...entries: object[]): Record<string, string> => ({
  "flotilla.dev/job-record": JSON.stringify(entries),
});
const DONE = { conditions: [{ type: "Complete", status: "True" }] };

interface Case {
  job?: Job;
  targets: Record<string, number>;
  annotations?: Record<string, string>;
  works?: Record<string, Given>;
  want: Record<string, number>;
  rest?: number;
  retired?: string[];
}
const cases: Record<string, Case> = {
  "divides the completions by the parallelism of the members": {
    targets: { oslo: 3, paris: 1 },
    want: { oslo: 3, paris: 1 },
    rest: 4,
  },
  "keeps the completions that a member already has, because they are immutable there": {
    targets: { oslo: 1, paris: 3 },
    works: { oslo: { completions: 3 }, paris: { completions: 1 } },
    want: { oslo: 3, paris: 1 },
  },
  "gives a new member what the member that left had not finished": {
    targets: { oslo: 2, rome: 2 },
    works: { oslo: { completions: 2 }, paris: { completions: 2, succeeded: 1 } },
    want: { oslo: 2, rome: 1 },
    rest: 1,
    retired: ["work-paris"],
  },
  "does not count a Work again whose numbers are recorded": {
    targets: { oslo: 2, rome: 2 },
    annotations: record({ cluster: "paris", succeeded: 1, at: NOW, work: "work-paris" }),
    works: { oslo: { completions: 2 }, paris: { completions: 2, succeeded: 1, deleted: true } },
    want: { oslo: 2, rome: 1 },
    rest: 1,
    retired: ["work-paris"],
  },
  "counts the record after the Work is gone": {
    targets: { oslo: 2, rome: 2 },
    annotations: record({ cluster: "paris", succeeded: 1, at: NOW }),
    works: { oslo: { completions: 2 }, rome: { completions: 1 } },
    want: { oslo: 2, rome: 1 },
  },
  "gives a new member nothing to run when everything is finished": {
    job: makeJob(4, DONE),
    targets: { oslo: 2, rome: 2 },
    works: { oslo: { completions: 2, succeeded: 2, finished: true } },
    want: { oslo: 2, rome: 0 },
  },
  "replaces the finished Job of a member that stays when no new member can take the rest": {
    targets: { oslo: 2, paris: 2 },
    works: {
      oslo: { completions: 1, active: 1 },
      paris: { completions: 2, succeeded: 2, finished: true },
      rome: { completions: 1 },
    },
    want: { oslo: 1, paris: 2 },
    rest: 1,
    retired: ["work-rome", "work-paris"],
  },
  "replaces no Job of a member that cannot be reached": {
    targets: { oslo: 2, paris: 2 },
    works: { oslo: { completions: 1, away: true }, paris: { completions: 2, away: true } },
    want: { oslo: 1, paris: 2 },
    rest: 1,
  },
  "runs the whole share again where the policy asks for it": {
    job: makeJob(4, DONE),
    targets: { oslo: 2, rome: 2 },
    annotations: { "flotilla.dev/rerun-jobs": "true" },
    works: { oslo: { completions: 2, succeeded: 2 }, paris: { completions: 2, succeeded: 2, finished: true } },
    want: { oslo: 2, rome: 2 },
    rest: 2,
    retired: ["work-paris"],
  },
  "divides the completions of a Job without parallelism evenly, for when it is raised": {
    targets: { oslo: 0, paris: 0 },
    want: { oslo: 2, paris: 2 },
    rest: 4,
  },
  "leaves a work queue as it is": { job: makeJob(), targets: { oslo: 2, paris: 2 }, want: {} },
  "starts no new pods of a work queue after one has succeeded": {
    job: makeJob(),
    targets: { oslo: 2, rome: 2 },
    works: { oslo: { succeeded: 1 } },
    want: { rome: 0 },
  },
  "lets an Indexed Job on one member follow its template, which may be resized": {
    job: makeJob(4, undefined, "Indexed"),
    targets: { oslo: 4 },
    works: { oslo: { completions: 2 } },
    want: {},
  },
  "creates the Job of the last member again for all that is left, because its share is immutable": {
    targets: { oslo: 4 },
    works: { oslo: { completions: 1, active: 1 }, paris: { completions: 3, active: 3 } },
    want: { oslo: 1 },
    rest: 3,
    retired: ["work-paris", "work-oslo"],
  },
  "gives the last member everything after its share was removed there": {
    targets: { oslo: 4 },
    annotations: record({ cluster: "paris", succeeded: 1, at: NOW }),
    want: { oslo: 3 },
    rest: 3,
  },
};
for (const [
  name,
  { job = makeJob(4), targets, annotations, works = {}, want, rest = 0, retired = [] },
] of Object.entries(cases))
  test(name, () => {
    const given = Object.entries(works).map(([cluster, each]) => makeWork(cluster, each));

    const plan = planJob(makeBound(targets, annotations), job, given, NOW);

    expect(Object.fromEntries(plan.completions)).toEqual(want);
    expect(plan.rest).toBe(rest);
    expect(Array.from(plan.retired, ({ metadata }) => metadata.uid)).toEqual(retired);
  });

test("records what a member has finished before its Work is deleted, once", () => {
  const works = [makeWork("oslo", { completions: 2 }), makeWork("paris", { completions: 2, succeeded: 1 })];
  const targets = { oslo: 2, rome: 2 };

  const { recordText = "" } = planJob(makeBound(targets), makeJob(4), works, NOW);
  const again = planJob(makeBound(targets, { "flotilla.dev/job-record": recordText }), makeJob(4), works, "later");

  expect(JSON.parse(recordText)).toEqual([{ cluster: "paris", succeeded: 1, at: NOW, work: "work-paris" }]);
  expect(again.recordText).toBeUndefined();
});

test("the record has one entry for a member that the Job has left twice", () => {
  const left = record(
    { cluster: "paris", succeeded: 1, at: NOW, work: "first" },
    { cluster: "paris", succeeded: 2, at: NOW, work: "second" },
  );

  const { recordText = "" } = planJob(
    makeBound({ oslo: 4 }, left),
    makeJob(9),
    [makeWork("rome", { completions: 3, succeeded: 3 })],
    NOW,
  );

  expect(JSON.parse(recordText)).toEqual([
    { cluster: "paris", succeeded: 3, at: NOW },
    { cluster: "rome", succeeded: 3, at: NOW, work: "work-rome" },
  ]);
});
