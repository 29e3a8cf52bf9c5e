import { describe, expect, test } from "vitest";
import type { GateStatus } from "../kinds/fleet-rollout.ts";
import type { GateSpec } from "../kinds/strategy-fields.ts";
import { approvalsOf, closedGates, gateType, planGates, renderGate } from "./plan-gates.ts";
import type { GateContext } from "./plan-gates.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const context = (more: Partial<GateContext> = {}): GateContext => ({
  wave: "half",
  when: "After",
  approvals: [],
  promotions: [],
  answers: [],
  nowMs: NOW_MS,
  ...more,
});
const asked = (more: Partial<GateStatus>): GateStatus => ({
  wave: "half",
  when: "After",
  index: 0,
  type: "metric",
  state: "Pending",
  ...more,
});
const metric: GateSpec = {
  metric: { server: "https://prometheus.example.com", query: "up", interval: "30s", failureLimit: 3 },
};

describe("a gate of a wave", () => {
  const cases: Record<
    string,
    { gate: GateSpec; context?: Partial<GateContext>; want: Partial<GateStatus>; againInMs?: number }
  > = {
    "for approval is closed until its wave is approved": {
      gate: { approval: {} },
      context: { approvals: ["canary"] },
      want: { state: "Closed", message: "wave half is not approved" },
    },
    "for approval after a wave that was approved before it is closed until its end is approved": {
      gate: { approval: {} },
      context: { approval: "half/after", approvals: ["half"] },
      want: { state: "Closed", message: "wave half/after is not approved" },
    },
    "for approval after a wave opens when its end is approved": {
      gate: { approval: {} },
      context: { approval: "half/after", approvals: ["half", "half/after"] },
      want: { state: "Open" },
    },
    "for approval says what to check": {
      gate: { approval: { message: "look at the dashboard" } },
      want: { state: "Closed", message: "look at the dashboard" },
    },
    "for approval names who approved": {
      gate: { approval: {} },
      context: { approvals: ["half"], actorOf: (did, wave) => `${did} of ${wave} by ann` },
      want: { state: "Open", openedBy: "approvals of half by ann", openedAt: "2026-05-01T12:00:00Z" },
    },
    "for approval closes again when the approval is withdrawn": {
      gate: { approval: {} },
      context: { answers: [asked({ type: "approval", state: "Open", openedBy: "ann" })] },
      want: { state: "Closed" },
    },
    "keeps who opened it, and when": {
      gate: { approval: {} },
      context: {
        approvals: ["half"],
        answers: [asked({ type: "approval", state: "Open", openedBy: "ann", openedAt: "2026-05-01T08:00:00Z" })],
      },
      want: { state: "Open", openedBy: "ann", openedAt: "2026-05-01T08:00:00Z" },
    },
    "for soak time does not start before the wave is healthy": {
      gate: { soak: "10m" },
      want: { state: "Closed", message: "soaks for 10m once it is healthy" },
    },
    "for soak time says until when": {
      gate: { soak: "10m" },
      context: { healthySinceMs: NOW_MS - 60_000 },
      want: { state: "Closed", message: "soaks until 2026-05-01T12:09:00Z" },
      againInMs: 540_000,
    },
    "for soak time opens in the moment in which it is over": {
      gate: { soak: "10m" },
      context: { healthySinceMs: NOW_MS - 600_000 },
      want: { state: "Open", openedBy: "time" },
    },
    "for no soak time opens at once": {
      gate: { soak: "0s" },
      context: { healthySinceMs: NOW_MS },
      want: { state: "Open", openedBy: "time" },
    },
    "for soak time waits longer after the clock has jumped back": {
      gate: { soak: "10m" },
      context: { healthySinceMs: NOW_MS + 3_600_000 },
      want: { state: "Closed", message: "soaks until 2026-05-01T13:10:00Z" },
      againInMs: 4_200_000,
    },
    "for a window says when it opens": {
      gate: { window: { start: "14:00", end: "15:00", timeZone: "UTC" } },
      want: { state: "Closed", message: "the window opens at 2026-05-01T14:00:00Z" },
      againInMs: 7_200_000,
    },
    "for a window that was open closes with the window": {
      gate: { window: { start: "10:00", end: "12:00", timeZone: "UTC" } },
      context: { answers: [asked({ type: "window", state: "Open", openedBy: "calendar" })] },
      want: { state: "Closed", message: "the window opens at 2026-05-02T10:00:00Z" },
      againInMs: 79_200_000,
    },
    "for a window of an unknown time zone never opens": {
      gate: { window: { start: "10:00", end: "12:00", timeZone: "Europe/Atlantis" } },
      want: { state: "Closed", message: "the window never opens" },
    },
    "for a metric is pending until it was asked": {
      gate: metric,
      want: { state: "Pending", message: "metric has not been asked yet" },
    },
    "for a metric has the answer that was given": {
      gate: metric,
      context: { answers: [asked({ state: "Failed", value: "7", failures: 3 })] },
      want: { state: "Failed", value: "7", failures: 3 },
    },
    "for a metric ignores the answer of another wave": {
      gate: metric,
      context: { answers: [asked({ wave: "canary", state: "Open" })] },
      want: { state: "Pending" },
    },
    "for a metric ignores the answer of the gate before the wave": {
      gate: metric,
      context: { answers: [asked({ when: "Before", state: "Open" })] },
      want: { state: "Pending" },
    },
    "for a metric ignores the answer of a gate of another type at its place": {
      gate: metric,
      context: { answers: [asked({ type: "webhook", state: "Open" })] },
      want: { state: "Pending" },
    },
    "that failed is opened by a promotion": {
      gate: metric,
      context: { promotions: ["half"], answers: [asked({ state: "Failed", value: "7" })] },
      want: { state: "Open", openedBy: "promotion", value: "7" },
    },
    "is opened by a promotion of every wave": {
      gate: { window: { days: [], start: "10:00", end: "12:00", timeZone: "UTC" } },
      context: { promotions: ["*"] },
      want: { state: "Open", openedBy: "promotion" },
    },
    "is not opened by the promotion of another wave": {
      gate: { approval: {} },
      context: { promotions: ["canary"] },
      want: { state: "Closed" },
    },
  };
  for (const [behaviour, { gate, context: more, want, againInMs }] of Object.entries(cases))
    test(behaviour, () => {
      const planned = planGates([gate], context(more));

      expect(planned).toEqual({ gates: [expect.objectContaining(want)], againInMs });
    });
});

test("the gate that opens first decides when gates are planned again", () => {
  const { gates, againInMs } = planGates(
    [{ soak: "10m" }, { window: { start: "12:05", end: "13:00", timeZone: "UTC" } }, { approval: {} }],
    context({ healthySinceMs: NOW_MS }),
  );

  expect(gates.map(({ index, type, state }) => `${index} ${type} ${state}`)).toEqual([
    "0 soak Closed",
    "1 window Closed",
    "2 approval Closed",
  ]);
  expect(againInMs).toBe(300_000);
});

test("a wave without gates is not planned again", () => {
  expect(planGates([], context())).toEqual({ gates: [], againInMs: undefined });
});

describe("the gates that a release waits for", () => {
  const gates = [
    asked({ wave: "canary", when: "After", type: "soak", state: "Closed" }),
    asked({ when: "Before", type: "approval", state: "Closed" }),
    asked({ when: "Before", index: 1, type: "soak", state: "Open" }),
    asked({ when: "After", type: "metric", state: "Pending" }),
  ];
  const cases: Record<string, { waveState: "Before" | "Open" | "After"; want: string[] }> = {
    "are those before its wave that are not open": { waveState: "Before", want: ["approval"] },
    "are none while the wave is carried out": { waveState: "Open", want: [] },
    "are those after its wave that are not open": { waveState: "After", want: ["metric"] },
  };
  for (const [behaviour, { waveState, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(closedGates({ gates, wave: "half", waveState }).map(({ type }) => type)).toEqual(want);
    });
});

test("a closed gate is named in a few words", () => {
  expect(renderGate(asked({ type: "approval", message: "look at the dashboard" }))).toBe("approval of half");
  expect(renderGate(asked({ message: "7 is above 5" }))).toBe("metric after half: 7 is above 5");
  expect(renderGate(asked({ when: "Before", type: "job" }))).toBe("job before half");
});

test("a gate without a type that this version knows waits for approval", () => {
  expect(gateType({})).toBe("approval");
  expect(gateType({ soak: "1m" })).toBe("soak");
});

const approval: GateSpec = { approval: {} };
const soak: GateSpec = { soak: "1h" };
test.each([
  {
    what: "approvals before and after it has two entries",
    before: [soak, approval],
    after: [approval],
    want: { before: "half", after: "half/after" },
  },
  { what: "an approval before it has its name", before: [approval], after: [soak], want: { before: "half" } },
  { what: "an approval after it only has its name", before: [soak], after: [approval], want: { after: "half" } },
  { what: "no approval has no entry", before: [soak], after: undefined, want: {} },
])("a wave with $what", ({ before, after, want }) => {
  expect(approvalsOf({ name: "half", before, after })).toEqual(want);
});
