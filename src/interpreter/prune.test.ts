import { expect, test } from "vitest";
import { prune, withoutJobTtl } from "./prune.ts";

const labels = { app: "web", "controller-uid": "1", "batch.kubernetes.io/job-name": "web" };
const job = (apiVersion: string) => ({ apiVersion, kind: "Job", metadata: { name: "web", uid: "1" }, spec: { ttlSecondsAfterFinished: 60, template: { metadata: { labels } } }, status: { active: 1 } });

test("what the hub generated for a Job is not sent to members", () => {
  expect(withoutJobTtl(prune(job("batch/v1")))).toEqual({ apiVersion: "batch/v1", kind: "Job", metadata: { name: "web" }, spec: { template: { metadata: { labels: { app: "web" } } } } });
});

test("another project's kind of the same name keeps its spec", () => {
  expect(withoutJobTtl(prune(job("batch.volcano.sh/v1alpha1")))).toMatchObject({ spec: { ttlSecondsAfterFinished: 60, template: { metadata: { labels } } } });
});

test("every generated token of a service account is taken out", () => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "web" }, secrets: [{ name: "web-token-a" }, { name: "web-token-b" }, { name: "own" }] };

  expect(prune(account)).toMatchObject({ secrets: [{ name: "own" }] });
});
