import { expect, test } from "vitest";
import { isWorthCollecting } from "./return-memory.ts";

const MIB = 1024 * 1024;
const burst = { idleChecks: 3, totalBytes: 280 * MIB, keptBytes: 80 * MIB };

const cases: Record<string, { state: Parameters<typeof isWorthCollecting>[0]; want: boolean }> = {
  "collects what a burst left when there is little to do for half a minute": { state: burst, want: true },
  "does not collect between two bursts": { state: { ...burst, idleChecks: 2 }, want: false },
  "leaves a heap that has grown by less than what a collection costs the next burst": {
    state: { ...burst, totalBytes: 200 * MIB },
    want: false,
  },
  "leaves a large heap, whose collection takes long": {
    state: { ...burst, totalBytes: 900 * MIB, keptBytes: 600 * MIB },
    want: false,
  },
};
for (const [behaviour, { state, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(isWorthCollecting(state)).toBe(want);
  });
}
