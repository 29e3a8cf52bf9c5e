import { expect, test } from "vitest";
import { waveState } from "./wave-state.ts";

const cases: Record<string, { release: Parameters<typeof waveState>[1]; want: string[] }> = {
  "a wave that waits for its gates": {
    release: { phase: "Progressing", at: 1, waveState: "Before" },
    want: ["complete", "waits", ""],
  },
  "a wave in progress": { release: { phase: "Progressing", at: 1, waveState: "Open" }, want: ["complete", "open", ""] },
  "a wave whose soak time has begun": {
    release: { phase: "Progressing", at: 0, waveState: "After" },
    want: ["complete, waits", "", ""],
  },
  "a release that is paused": {
    release: { phase: "Paused", at: 1, waveState: "Open" },
    want: ["complete", "paused", ""],
  },
  "a release that was rolled back": {
    release: { phase: "RolledBack", at: 1, waveState: "Open" },
    want: ["rolled back", "rolled back", ""],
  },
  "a release that succeeded": { release: { phase: "Succeeded", at: 2 }, want: ["complete", "complete", "complete"] },
};
for (const [behaviour, { release, want }] of Object.entries(cases)) {
  test(`states of the waves: ${behaviour}`, () => {
    expect([0, 1, 2].map((index) => waveState(index, release))).toEqual(want);
  });
}
