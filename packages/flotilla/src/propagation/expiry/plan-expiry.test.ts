import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { knownKinds } from "../../interpreter/interpreter.ts";
import { planExpiry } from "./plan-expiry.ts";

const END = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T12:00:20Z";
const DUE = Date.parse("2024-05-01T12:01:20Z");
const NOW = Date.parse("2024-05-01T13:00:00Z");
const ttl = { ttlSecondsAfterFinished: 60 };
const completed = (time: string): JsonObject => ({ completionTime: time });
const condition =
  (type: string) =>
  (time: string): JsonObject => ({ conditions: [{ type, status: "True", lastTransitionTime: time }] });

interface Sample {
  spec: JsonObject;
  ended(time: string): JsonObject;
  running: JsonObject;
}

const samples: Record<string, Sample> = {
  "batch/Job": { spec: ttl, ended: condition("Failed"), running: { active: 1 } },
  "apps.kruise.io/BroadcastJob": {
    spec: { completionPolicy: { type: "Always", ...ttl } },
    ended: (time) => ({ ...condition("Complete")(time), ...completed(time) }),
    running: { active: 1 },
  },
  "apps.kruise.io/ImagePullJob": {
    spec: { completionPolicy: { type: "Always", ...ttl } },
    ended: completed,
    running: { active: 1 },
  },
  "apps.kruise.io/ImageListPullJob": {
    spec: { completionPolicy: { type: "Always", ...ttl } },
    ended: completed,
    running: { active: 1 },
  },
  "apps.kruise.io/EphemeralJob": { spec: ttl, ended: completed, running: { phase: "Running" } },
  "apps.kruise.io/ContainerRecreateRequest": { spec: ttl, ended: completed, running: { phase: "Recreating" } },
  "argoproj.io/Workflow": {
    spec: { ttlStrategy: { secondsAfterFailure: 60, secondsAfterSuccess: 5 } },
    ended: (finishedAt) => ({ phase: "Failed", finishedAt }),
    running: { phase: "Running" },
  },
  "batch.volcano.sh/Job": {
    spec: ttl,
    ended: (lastTransitionTime) => ({ state: { phase: "Completed", lastTransitionTime } }),
    running: { state: { phase: "Aborted", lastTransitionTime: END } },
  },
  "sparkoperator.k8s.io/SparkApplication": {
    spec: { timeToLiveSeconds: 60 },
    ended: (terminationTime) => ({ applicationState: { state: "COMPLETED" }, terminationTime }),
    running: { applicationState: { state: "RUNNING" }, terminationTime: null },
  },
  "kubeflow.org/PyTorchJob": {
    spec: { runPolicy: ttl },
    ended: (time) => ({ ...condition("Succeeded")(END), ...completed(time) }),
    running: condition("Running")(END),
  },
  "kubeflow.org/MPIJob": { spec: { runPolicy: ttl }, ended: condition("Failed"), running: condition("Created")(END) },
  "kubeflow.org/TFJob": { spec: { runPolicy: ttl }, ended: condition("Succeeded"), running: condition("Running")(END) },
};

const templateOf = (name: string, spec: JsonObject): KubernetesObject => {
  const [group = "", kind = ""] = name.split("/");
  return {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: "run", uid: "uid-1", creationTimestamp: "2024-05-01T11:00:00Z" },
    spec,
  } as KubernetesObject;
};
interface Member {
  replicas?: number;
  /** Of the copy that the member reports; unset without a Work. */
  work?: { completions?: number; applied?: boolean; uid?: string } | undefined;
  report?: JsonObject;
  isTarget?: boolean;
}

function plan(
  template: KubernetesObject,
  members: Record<string, Member>,
  spec: Partial<ResourceBinding["spec"]> = {},
) {
  const all = Object.entries(members);
  const works = all.flatMap(([name, { work, report }]): Work[] => {
    if (!work) return [];
    const { uid = "uid-1", completions, applied = true } = work;
    const metadata = { name: "run", annotations: { "resourcetemplate.karmada.io/uid": uid } };
    const copy = { ...template, metadata, spec: { completions } };
    const status = report && { manifestStatuses: [{ identifier: { ordinal: 0 }, status: report }] };
    return [
      {
        apiVersion: "work.karmada.io/v1alpha1",
        kind: "Work",
        metadata: { name: "run", namespace: `karmada-es-${name}`, uid: `work-${name}` },
        spec: { workload: { manifests: [copy] } },
        status: { conditions: [{ type: "Applied", status: applied ? "True" : "False" }], ...status },
      } as unknown as Work,
    ];
  });
  const clusters = all.flatMap(([name, { isTarget = true, replicas }]) => (isTarget ? [{ name, replicas }] : []));
  const aggregatedStatus = all.flatMap(([clusterName, { report }]) =>
    report ? [{ clusterName, status: report }] : [],
  );
  const binding = {
    metadata: { name: "run" },
    spec: { resource: { apiVersion: template.apiVersion, kind: template.kind, name: "run" }, clusters, ...spec },
    status: { aggregatedStatus },
  } as unknown as ResourceBinding;
  return planExpiry(binding, template, works, NOW);
}
const reporting = (report: JsonObject): Member => ({ work: {}, report });

test("every kind with a time to live has a case here", () => {
  const kinds = knownKinds.filter(({ timeToLive }) => timeToLive).map(({ group, kind }) => `${group}/${kind}`);

  expect([...new Set(kinds)].toSorted()).toEqual(Object.keys(samples).toSorted());
});

test.each(Object.entries(samples))(
  "%s expires after its last member has finished",
  (name, { spec, ended, running }) => {
    const template = templateOf(name, spec);
    const due = (members: Record<string, Member>): number | undefined => plan(template, members)?.atMs;
    const done = reporting(ended(END));

    expect(due({ oslo: done, paris: reporting(ended(LATER)) })).toBe(DUE);
    expect(due({ oslo: done, paris: reporting(running) })).toBeUndefined();
    expect(due({ oslo: done, paris: { work: {} } })).toBeUndefined();
    expect(due({ oslo: done, paris: { report: ended(LATER) } })).toBeUndefined();
    expect(due({ oslo: done, left: { report: running, isTarget: false } })).toBeUndefined();
    expect(due({ oslo: done, left: { report: ended(LATER), isTarget: false } })).toBe(DUE);
    expect(plan(templateOf(name, {}), { oslo: done })).toBeUndefined();
  },
);

const complete = (succeeded: number): JsonObject => ({ succeeded, ...condition("Complete")(END) });
const DIVIDED = { replicas: 4, placement: { replicaScheduling: { replicaSchedulingType: "Divided" } } } as const;

test("a divided Job stays while no member runs what one that has left had not finished", () => {
  const job = templateOf("batch/Job", { ...ttl, completions: 4, parallelism: 4 });
  const two = { replicas: 2, work: { completions: 2 }, report: complete(2) };

  expect(plan(job, { oslo: two }, DIVIDED)).toBeUndefined();
  expect(plan(job, { oslo: two, paris: { replicas: 2, work: { completions: 2 } } }, DIVIDED)).toBeUndefined();
  expect(plan(job, { oslo: two, paris: two }, DIVIDED)?.atMs).toBe(Date.parse("2024-05-01T12:01:00Z"));
  expect(plan(job, { oslo: { ...two, report: complete(1) }, paris: two }, DIVIDED)).toBeUndefined();
});

test("a divided run of another kind stays while fewer replicas are placed than it has", () => {
  const job = templateOf("batch.volcano.sh/Job", ttl);
  const ended = { state: { phase: "Completed", lastTransitionTime: END } };
  const half = { replicas: 2, work: {}, report: ended };

  expect(plan(job, { oslo: half }, DIVIDED)).toBeUndefined();
  expect(plan(job, { oslo: half, paris: half }, DIVIDED)?.atMs).toBe(Date.parse("2024-05-01T12:01:00Z"));
  expect(plan(job, { oslo: half, left: { report: ended, isTarget: false } }, DIVIDED)?.atMs).toBe(
    Date.parse("2024-05-01T12:01:00Z"),
  );
});

test("a report counts only if the member has the latest copy and reports on this template", () => {
  const job = templateOf("apps.kruise.io/ImagePullJob", { completionPolicy: { type: "Always", ...ttl } });
  job.metadata.generation = 2;
  const report = { ...completed(END), resourceTemplateGeneration: 2 };

  expect(plan(job, { oslo: { work: {}, report } })).toBeDefined();
  expect(plan(job, { oslo: { work: { applied: false }, report } })).toBeUndefined();
  expect(plan(job, { oslo: { work: {}, report: { ...report, resourceTemplateGeneration: 1 } } })).toBeUndefined();
  expect(plan(job, { oslo: { work: { uid: "uid-0" }, report } })).toBeUndefined();
});

test("the time of a run on a member whose clock is behind begins with the template", () => {
  const job = templateOf("batch/Job", ttl);

  const status = condition("Complete")("2024-05-01T10:59:59Z");
  expect(plan(job, { oslo: reporting(status) })?.atMs).toBe(Date.parse("2024-05-01T11:01:00Z"));
});

test("the message names ten members at most", () => {
  const names = Array.from({ length: 12 }, (_, index) => `m${index + 10}`);
  const members = Object.fromEntries(names.map((name) => [name, reporting(complete(1))]));

  expect(plan(templateOf("batch/Job", ttl), members)?.message).toMatch(/ m18, m19 and 2 more$/);
});

test("the message says that the policy preserves the copies", () => {
  const members = { oslo: reporting(complete(1)) };

  expect(plan(templateOf("batch/Job", ttl), members, { preserveResourcesOnDeletion: true })?.message).toBe(
    "deleted; its policy preserves the copies: spec.ttlSecondsAfterFinished is 60 s, and it has finished on oslo",
  );
});

test("Workflows that all succeeded have their own time", () => {
  const { spec } = samples["argoproj.io/Workflow"] as Sample;
  const status = { phase: "Succeeded", finishedAt: END };

  expect(plan(templateOf("argoproj.io/Workflow", spec), { oslo: reporting(status) })).toEqual({
    atMs: Date.parse("2024-05-01T12:00:05Z"),
    message: "deleted with its copies: spec.ttlStrategy is 5 s, and it has finished on oslo",
  });
});
