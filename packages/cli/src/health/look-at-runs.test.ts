import { expect, test } from "vitest";
import { podTroublesOfRun } from "./look-at-runs.ts";
import type { PodTrouble } from "./pod-troubles.ts";

const NOW_MS = 10_000_000;
const trouble = (does: PodTrouble["does"], ageMs: number): PodTrouble => ({
  reason: "Unschedulable",
  detail: "",
  does,
  isCertain: false,
  pod: "web-1",
  createdMs: NOW_MS - ageMs,
  count: 1,
});

test("a pod of a run that has waited for a minute does not start by itself; one that runs may take long", () => {
  const [old, fresh] = [trouble("wait", 61_000), trouble("wait", 59_000)];

  expect(podTroublesOfRun([old, fresh, trouble("run", 3_600_000)], NOW_MS).map(({ isCertain }) => isCertain)).toEqual([
    true,
    false,
  ]);
});
