import { describe, expect, test } from "vitest";
import { parseTaintChange, planTaints } from "./taints.ts";
import type { Taint } from "./taints.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe("a change of taints", () => {
  const cases: Record<string, unknown> = {
    "gpu=yes:NoSchedule": { type: "add", key: "gpu", value: "yes", effect: "NoSchedule" },
    "example.com/gpu:NoExecute": { type: "add", key: "example.com/gpu", value: undefined, effect: "NoExecute" },
    "gpu:NoSchedule-": { type: "remove", key: "gpu", effect: "NoSchedule" },
    "gpu-": { type: "remove", key: "gpu", effect: undefined },
  };
  for (const [text, want] of Object.entries(cases))
    test(`is read from ${text}`, () => expect(parseTaintChange(text)).toEqual(want));

  const mistakes: Record<string, string> = {
    gpu: "has no effect; write gpu:NoSchedule or gpu:NoExecute",
    "gpu=a=b:NoSchedule": "is not a taint",
    "gpu:PreferNoSchedule": "members support NoSchedule and NoExecute",
    "": "is not a taint",
  };
  for (const [text, want] of Object.entries(mistakes))
    test(`is rejected if it is '${text}'`, () => expect(() => parseTaintChange(text)).toThrow(want));
});

describe("the taints after a change", () => {
  const old: Taint = { key: "a", effect: "NoExecute", timeAdded: "2025-01-01T00:00:00Z" };

  test("keep the time of a taint that is already there", () => {
    expect(planTaints([old], [{ type: "add", key: "a", effect: "NoExecute" }], NOW)).toEqual([old]);
  });

  test("have a new time where the value changed", () => {
    const [taint] = planTaints([old], [{ type: "add", key: "a", value: "b", effect: "NoExecute" }], NOW);

    expect(taint).toEqual({ key: "a", value: "b", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" });
  });

  test("lack those of the named key, of one effect or of all", () => {
    const taints: Taint[] = [old, { key: "a", effect: "NoSchedule" }, { key: "b", effect: "NoSchedule" }];

    expect(planTaints(taints, [{ type: "remove", key: "a", effect: "NoSchedule" }], NOW)).toEqual([old, taints[2]]);
    expect(planTaints(taints, [{ type: "remove", key: "a" }], NOW)).toEqual([taints[2]]);
  });
});
