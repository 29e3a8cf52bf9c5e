import { expect, test } from "vitest";
import { podProblemsOfRun } from "./look-at-runs.ts";
import type { PodProblem } from "./pod-problems.ts";

const NOW_MS = 10_000_000;
const problem = (does: PodProblem["does"], ageMs: number): PodProblem => ({
  reason: "Unschedulable",
  detail: "",
  does,
  isCertain: false,
  pod: "web-1",
  createdMs: NOW_MS - ageMs,
  count: 1,
  outdated: [],
});

test("a pod of a run that has waited for a minute does not start by itself; one that runs may take long", () => {
  const [old, fresh] = [problem("wait", 61_000), problem("wait", 59_000)];

  expect(podProblemsOfRun([old, fresh, problem("run", 3_600_000)], NOW_MS).map(({ isCertain }) => isCertain)).toEqual([
    true,
    false,
  ]);
});
