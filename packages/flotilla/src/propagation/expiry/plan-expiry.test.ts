import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { knownKinds } from "../../interpreter/interpreter.ts";
import { planExpiry } from "./plan-expiry.ts";

const END = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T12:00:20Z";
const DUE = Date.parse("2024-05-01T12:01:20Z");
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
    metadata: { name: "run", creationTimestamp: "2024-05-01T11:00:00Z" },
    spec,
  } as KubernetesObject;
};
const bindingOf = (clusters: readonly string[], reports: Record<string, JsonObject>) => ({
  spec: { resource: { apiVersion: "", kind: "", name: "" }, clusters: clusters.map((name) => ({ name })) },
  status: { aggregatedStatus: Object.entries(reports).map(([clusterName, status]) => ({ clusterName, status })) },
});

test("every kind with a time to live has a case here", () => {
  const kinds = knownKinds.filter(({ timeToLive }) => timeToLive).map(({ group, kind }) => `${group}/${kind}`);

  expect([...new Set(kinds)].toSorted()).toEqual(Object.keys(samples).toSorted());
});

test.each(Object.entries(samples))(
  "%s expires after its last member has finished",
  (name, { spec, ended, running }) => {
    const template = templateOf(name, spec);
    const plan = (reports: Record<string, JsonObject>): number | undefined =>
      planExpiry(bindingOf(["oslo", "paris"], reports), template)?.atMs;

    expect(plan({ oslo: ended(END), paris: ended(LATER) })).toBe(DUE);
    expect(plan({ oslo: ended(END), paris: running })).toBeUndefined();
    expect(plan({ oslo: ended(END) })).toBeUndefined();
    expect(plan({ oslo: ended(END), paris: ended(LATER), left: running })).toBeUndefined();
    expect(planExpiry(bindingOf(["oslo"], { oslo: ended(END) }), templateOf(name, {}))).toBeUndefined();
  },
);

test("a run that ended before the template was created is that of an object that was deleted", () => {
  const job = templateOf("batch/Job", ttl);

  const status = { oslo: condition("Complete")("2024-05-01T10:59:59Z") };
  expect(planExpiry(bindingOf(["oslo"], status), job)).toBeUndefined();
});

test("Workflows that all succeeded have their own time", () => {
  const { spec } = samples["argoproj.io/Workflow"] as Sample;
  const status = { oslo: { phase: "Succeeded", finishedAt: END } };

  expect(planExpiry(bindingOf(["oslo"], status), templateOf("argoproj.io/Workflow", spec))).toEqual({
    atMs: Date.parse("2024-05-01T12:00:05Z"),
    message: "deleted with its copies: spec.ttlStrategy is 5 s, and it has finished on oslo",
  });
});
