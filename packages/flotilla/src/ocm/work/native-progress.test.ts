import { expect, test } from "vitest";
import type { ConditionRule } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createInterpreter } from "../../interpreter/interpreter.ts";
import { nativeProgress } from "./native-progress.ts";

const object = (apiVersion: string, kind: string, spec: object, status: object): KubernetesObject =>
  ({ apiVersion, kind, metadata: { name: "web", namespace: "shop", generation: 2 }, spec, status }) as KubernetesObject;
const conditionsOf = async (subject: KubernetesObject, rules: ConditionRule[] = []): Promise<string[]> =>
  (await nativeProgress(subject, rules, createInterpreter())).map(
    ({ type, status, reason }) => `${type} ${status} ${reason}`,
  );
const rule = (condition: string): ConditionRule => ({ condition, type: "CEL", celExpressions: ["true"] });
const PROGRESSING = ["Progressing True ConditionRuleNative"];
const DONE = ["Progressing False ConditionRuleNative"];
const FAILED = [...PROGRESSING, "Degraded True ConditionRuleNative"];

const rolledOut = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const cases: Record<string, { subject: KubernetesObject; want: string[] }> = {
  "a Deployment with an unobserved generation is progressing": {
    subject: object("apps/v1", "Deployment", { replicas: 3 }, { ...rolledOut, observedGeneration: 1 }),
    want: PROGRESSING,
  },
  "a Deployment with missing pods is progressing": {
    subject: object("apps/v1", "Deployment", { replicas: 3 }, { ...rolledOut, availableReplicas: 2 }),
    want: PROGRESSING,
  },
  "a Deployment whose surge pod does not become ready is progressing": {
    subject: object(
      "apps/v1",
      "Deployment",
      { replicas: 1 },
      {
        observedGeneration: 2,
        replicas: 2,
        updatedReplicas: 1,
        readyReplicas: 1,
        availableReplicas: 1,
        unavailableReplicas: 1,
      },
    ),
    want: PROGRESSING,
  },
  "a rolled-out Deployment is complete": {
    subject: object("apps/v1", "Deployment", { replicas: 3 }, rolledOut),
    want: DONE,
  },
  "a Deployment that exceeded its progress deadline has failed": {
    subject: object(
      "apps/v1",
      "Deployment",
      { replicas: 3 },
      {
        ...rolledOut,
        availableReplicas: 2,
        conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "too late" }],
      },
    ),
    want: FAILED,
  },
  "a CloneSet that has reached its partition is complete": {
    subject: object(
      "apps.kruise.io/v1alpha1",
      "CloneSet",
      { replicas: 3, updateStrategy: { partition: 2 } },
      { ...rolledOut, updatedReplicas: 1, expectedUpdatedReplicas: 1 },
    ),
    want: DONE,
  },
  "a CloneSet with outdated pods is progressing": {
    subject: object(
      "apps.kruise.io/v1beta1",
      "CloneSet",
      { replicas: 3 },
      { ...rolledOut, updatedReplicas: 1, expectedUpdatedReplicas: 3 },
    ),
    want: PROGRESSING,
  },
  "a running Job is progressing": { subject: object("batch/v1", "Job", {}, { active: 1 }), want: PROGRESSING },
  "a suspended Job is not progressing": {
    subject: object("batch/v1", "Job", { suspend: true }, {}),
    want: DONE,
  },
  "a complete Job is complete": {
    subject: object("batch/v1", "Job", {}, { conditions: [{ type: "Complete", status: "True" }] }),
    want: DONE,
  },
  "a Job that failed has failed": {
    subject: object(
      "batch/v1",
      "Job",
      {},
      { conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }] },
    ),
    want: FAILED,
  },
  "a completed BroadcastJob is complete": {
    subject: object("apps.kruise.io/v1alpha1", "BroadcastJob", {}, { phase: "completed" }),
    want: DONE,
  },
  "a ready Pod is complete": {
    subject: object("v1", "Pod", {}, { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }),
    want: DONE,
  },
  "a ConfigMap has no progress": { subject: object("v1", "ConfigMap", {}, {}), want: [] },
  "an invalid status reports no progress": {
    subject: object("batch/v1", "Job", {}, { conditions: "none" }),
    want: PROGRESSING,
  },
};
for (const [behaviour, { subject, want }] of Object.entries(cases)) {
  test(behaviour, async () => {
    expect(await conditionsOf(subject)).toEqual(want);
  });
}

test("a rule of the work replaces the native progress", async () => {
  const failed = cases["a Job that failed has failed"]?.subject as KubernetesObject;

  expect(await conditionsOf(failed, [rule("Progressing")])).toEqual([]);
  expect(await conditionsOf(failed, [rule("Degraded")])).toEqual(PROGRESSING);
});
