import { expect, test } from "vitest";
import { isWorthCollecting } from "./return-memory.ts";

const MIB = 1024 * 1024;
const sizes = (heapMiB: number, residentMiB: number) => ({
  heapBytes: heapMiB * MIB,
  residentBytes: residentMiB * MIB,
});
const burst = { idleChecks: 3, now: sizes(280, 500), kept: sizes(80, 200) };

const cases: Record<string, { state: Parameters<typeof isWorthCollecting>[0]; want: boolean }> = {
  "collects what a burst left when there is little to do for half a minute": { state: burst, want: true },
  "does not collect between two bursts": { state: { ...burst, idleChecks: 2 }, want: false },
  "leaves a heap that has grown by less than what a collection costs the next burst": {
    state: { ...burst, now: sizes(200, 500) },
    want: false,
  },
  "collects when objects hold much memory outside of the heap": {
    state: { ...burst, now: sizes(120, 520) },
    want: true,
  },
  "leaves a large heap, whose collection takes long": {
    state: { ...burst, now: sizes(900, 1_200), kept: sizes(600, 700) },
    want: false,
  },
};
for (const [behaviour, { state, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(isWorthCollecting(state)).toBe(want);
  });
}
