import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { StatusItem } from "../interpreter/status-item.ts";
import { jobInterpreter } from "./job-interpreter.ts";

const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "report" } } as KubernetesObject;
const ended = (clusterName: string, type: string, at: string): StatusItem => ({
  clusterName,
  status: { succeeded: 1, conditions: [{ type, status: "True", lastTransitionTime: at }] },
});

test("a Job is complete when it is complete in all members, at the time of the last of them", () => {
  const summed = jobInterpreter.aggregateStatus?.(job, [
    ended("oslo", "Complete", "2024-05-01T12:00:00Z"),
    ended("paris", "Complete", "2024-05-01T13:00:00Z"),
  ]);

  expect(summed?.status).toMatchObject({
    succeeded: 2,
    conditions: [{ type: "Complete", status: "True", lastTransitionTime: "2024-05-01T13:00:00Z" }],
  });
});

test("a Job that failed in any member has failed, and the message names the members", () => {
  const summed = jobInterpreter.aggregateStatus?.(job, [
    ended("oslo", "Failed", "2024-05-01T12:00:00Z"),
    ended("paris", "Complete", "2024-05-01T13:00:00Z"),
  ]);

  expect(summed?.status).toMatchObject({
    conditions: [{ type: "Failed", message: "Job executed failed in member clusters oslo" }],
  });
});

test("aggregating again returns the Job itself, so that nothing is written", () => {
  const running: StatusItem[] = [{ clusterName: "oslo", status: { active: 2, startTime: "2024-05-01T12:00:00Z" } }];
  const once = jobInterpreter.aggregateStatus?.(job, running) ?? job;

  expect(jobInterpreter.aggregateStatus?.(once, running)).toBe(once);
});
