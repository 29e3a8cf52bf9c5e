import { expect, test } from "vitest";
import { prune, withoutTimeToLive } from "./prune.ts";

const labels = { app: "web", "controller-uid": "1", "batch.kubernetes.io/job-name": "web" };
const job = (apiVersion: string) => ({
  apiVersion,
  kind: "Job",
  metadata: { name: "web", uid: "1" },
  spec: { ttlSecondsAfterFinished: 60, template: { metadata: { labels } } },
  status: { active: 1 },
});

test("pruning removes Job fields that the hub generated to members", () => {
  expect(withoutTimeToLive(prune(job("batch/v1")))).toEqual({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "web" },
    spec: { template: { metadata: { labels: { app: "web" } } } },
  });
});

test("a third-party kind of the same name keeps its labels", () => {
  expect(prune(job("batch.volcano.sh/v1alpha1"))).toMatchObject({
    spec: { ttlSecondsAfterFinished: 60, template: { metadata: { labels } } },
  });
});

test("removes the TTL in every field, so that members keep finished objects", () => {
  const broadcast = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "BroadcastJob",
    metadata: { name: "b" },
    spec: { completionPolicy: { type: "Always", ttlSecondsAfterFinished: 60 } },
  };
  const never = { ...broadcast, spec: { completionPolicy: { type: "Never" } } };

  expect(withoutTimeToLive(broadcast)).toMatchObject({ spec: { completionPolicy: { type: "Always" } } });
  expect(withoutTimeToLive(broadcast)).not.toHaveProperty("spec.completionPolicy.ttlSecondsAfterFinished");
  expect(withoutTimeToLive(job("batch.volcano.sh/v1alpha1"))).not.toHaveProperty("spec.ttlSecondsAfterFinished");
  expect(withoutTimeToLive(never)).toBe(never);
});

test("removes every generated service account token", () => {
  const account = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "web" },
    secrets: [{ name: "web-token-a" }, { name: "web-token-b" }, { name: "own" }],
  };

  expect(prune(account)).toMatchObject({ secrets: [{ name: "own" }] });
});
