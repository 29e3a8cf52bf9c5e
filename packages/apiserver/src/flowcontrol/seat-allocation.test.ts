import { expect, test } from "vitest";
import { currentLimits, DemandIntegrator, nominalLimits } from "./seat-allocation.ts";
import type { SeatDemand } from "./seat-allocation.ts";

const limited = (shares: number, lendablePercent: number, borrowingLimitPercent?: number) => ({
  type: "Limited",
  limited: { nominalConcurrencyShares: shares, lendablePercent, borrowingLimitPercent },
});

test("nominal limits follow the shares, and lending and borrowing bound them", () => {
  const limits = nominalLimits(
    new Map([
      ["low", limited(100, 90)],
      ["high", limited(40, 50)],
      ["fixed", limited(60, 0, 0)],
    ]),
    200,
  );

  expect(Object.fromEntries(limits)).toEqual({
    low: { nominal: 100, min: 10, max: 200 },
    high: { nominal: 40, min: 20, max: 200 },
    fixed: { nominal: 60, min: 60, max: 60 },
  });
});

const demand = (nominal: number, min: number, max: number, highWatermark: number, smoothed: number): SeatDemand => ({
  limits: { nominal, min, max },
  isExempt: false,
  highWatermark,
  smoothed,
});

test("a busy level borrows what an idle one lends, and no more than it may", () => {
  const limits = currentLimits(
    new Map([
      ["busy", demand(50, 25, 100, 200, 200)],
      ["idle", demand(50, 5, 100, 0, 0)],
    ]),
  );

  expect(Object.fromEntries(limits)).toEqual({ busy: 95, idle: 5 });
});

test("a level that needs its nominal seats gets them back", () => {
  const limits = currentLimits(
    new Map([
      ["busy", demand(50, 25, 100, 200, 200)],
      ["back", demand(50, 5, 100, 50, 50)],
    ]),
  );

  expect(Object.fromEntries(limits)).toEqual({ busy: 50, back: 50 });
});

test("demand is averaged over time and smoothed", () => {
  const integrator = new DemandIntegrator(0);
  integrator.set(10, 0);
  integrator.set(0, 5000);

  integrator.update(10_000);

  expect([integrator.highWatermark, integrator.smoothed]).toEqual([10, 10]);
  integrator.update(20_000);
  expect(integrator.highWatermark).toBe(0);
  expect(integrator.smoothed).toBeCloseTo(9.77);
});
