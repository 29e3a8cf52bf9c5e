import { expect, test } from "vitest";
import { errorClasses } from "./error-lines.ts";

test("lines that differ only in names and numbers are one class, and only errors count", () => {
  const log = [
    'I1115 19:07:13.1    5409 serving.go:411] "Generated"',
    'E1115 19:07:35.9    5409 replica_set.go:640] "Unhandled Error" err="sync web-5d5cdd698 failed: read 163, written 167"',
    'E1115 19:07:36.9    5409 replica_set.go:640] "Unhandled Error" err="sync web-745b8656bf failed: read 5, written 6"',
    'E1115 19:07:37.9    5409 job_controller.go:1] "Unhandled Error" err="other"',
  ].join("\n");

  const classes = errorClasses(log);

  expect([...classes].map(([name, { count }]) => ({ name, count }))).toEqual([
    { name: 'replica_set.go "Unhandled Error" err="sync web-<x> failed: read <n>, written <n>"', count: 2 },
    { name: 'job_controller.go "Unhandled Error" err="other"', count: 1 },
  ]);
});
