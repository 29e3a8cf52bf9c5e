import { expect, test } from "vitest";
import { isWorthCollecting } from "./return-memory.ts";

const MIB = 1024 * 1024;
const burst = { utilization: 0.05, totalBytes: 220 * MIB, keptBytes: 80 * MIB };

const cases: Record<string, { state: Parameters<typeof isWorthCollecting>[0]; want: boolean }> = {
  "collects what a burst left when there is little to do": { state: burst, want: true },
  "does not make a busy process wait": { state: { ...burst, utilization: 0.9 }, want: false },
  "leaves a heap that has hardly grown": { state: { ...burst, totalBytes: 100 * MIB }, want: false },
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
