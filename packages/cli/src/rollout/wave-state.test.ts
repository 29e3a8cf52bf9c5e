import { expect, test } from "vitest";
import { waveState } from "./wave-state.ts";
import type { WaveMember } from "./wave-state.ts";

const updated = { wave: "canary", state: "Updated", hasRelease: true };
const back = { wave: "canary", state: "RolledBack", hasRelease: false };
const untouched: WaveMember = { name: "bergen", state: "Waiting", hasRelease: false };

interface Case {
  release: Parameters<typeof waveState>[1];
  /** Of the three waves. */
  members?: readonly (readonly WaveMember[])[];
  want: string[];
}
const cases: Record<string, Case> = {
  "a wave that waits for its gates": {
    release: { phase: "Progressing", at: 1, waveState: "Before" },
    want: ["complete", "waits", ""],
  },
  "waves that go on without a member that cannot be reached": {
    release: { phase: "Progressing", at: 2, waveState: "Open" },
    members: [
      [{ ...updated, name: "oslo" }],
      [
        { ...updated, name: "paris", state: "Unreachable" },
        { ...untouched, name: "rome", state: "Skipped" },
      ],
    ],
    want: ["complete", "complete without paris, rome", "open"],
  },
  "a release that succeeded without a member": {
    release: { phase: "Succeeded", at: 2, waveState: "After" },
    members: [[], [], [{ ...untouched, state: "Skipped" }]],
    want: ["complete", "complete", "complete without bergen"],
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
  "a release that failed and is paused": {
    release: { phase: "Paused", at: 1, waveState: "Open", hasFailed: true },
    want: ["complete", "failed, paused", ""],
  },
  "a release that returns, the last wave first": {
    release: { phase: "RollingBack", at: 1, waveState: "Open" },
    members: [
      [{ ...updated, name: "oslo" }],
      [
        { ...back, name: "paris" },
        { ...back, name: "rome", state: "RollingBack" },
      ],
    ],
    want: ["will roll back", "rolling back", ""],
  },
  "a release whose last wave is back": {
    release: { phase: "RollingBack", at: 1, waveState: "Open" },
    members: [[{ ...back, name: "oslo", state: "Unreachable" }], [{ ...back, name: "paris" }, untouched]],
    want: ["rolling back", "rolled back", ""],
  },
  "a release that was rolled back": {
    release: { phase: "RolledBack", at: 1, waveState: "Open" },
    members: [[{ ...back, name: "oslo" }], [{ ...back, name: "paris" }]],
    want: ["rolled back", "rolled back", ""],
  },
  "a release that failed at the gate of a wave": {
    release: { phase: "RolledBack", at: 1, waveState: "Before" },
    want: ["rolled back", "not started", ""],
  },
  "a release that could not return everywhere": {
    release: { phase: "Failed", at: 1, waveState: "Open" },
    members: [[{ ...back, name: "oslo", state: "Unreachable" }], [{ ...back, name: "paris" }]],
    want: ["not back: oslo", "rolled back", ""],
  },
  "a release that a newer one replaced": {
    release: { phase: "Superseded", at: 1, waveState: "Open" },
    want: ["complete", "superseded", ""],
  },
  "a release that succeeded": { release: { phase: "Succeeded", at: 2 }, want: ["complete", "complete", "complete"] },
};
for (const [behaviour, { release, members = [], want }] of Object.entries(cases)) {
  test(`states of the waves: ${behaviour}`, () => {
    expect([0, 1, 2].map((index) => waveState(index, release, members[index]))).toEqual(want);
  });
}
