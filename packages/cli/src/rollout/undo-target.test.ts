import { expect, test } from "vitest";
import type { FleetRollout } from "@flotilla/flotilla";
import { undoTarget } from "./undo-target.ts";

const release = (number: number, phase: string, previous?: string, revision = String(number)): FleetRollout =>
  ({ metadata: { name: `web-${number}` }, spec: { number, revision, previous }, status: { phase } }) as FleetRollout;
const first = release(1, "Succeeded");
const broken = release(2, "RolledBack", "web-1");

const cases: Record<string, { found: FleetRollout[]; to?: number; want: string | undefined }> = {
  "the revision that members returned to, not a broken one between": {
    found: [release(3, "RolledBack", "web-1"), broken, first],
    want: "web-1",
  },
  "the last release that succeeded, when the one before is no longer kept": {
    found: [release(4, "Succeeded", "web-3"), broken, first],
    want: "web-1",
  },
  "no release with the same revision": {
    found: [release(4, "Succeeded", "web-3", "1"), broken, first],
    want: undefined,
  },
  "a broken one by its number": { found: [release(3, "Succeeded", "web-1"), broken, first], to: 2, want: "web-2" },
  "nothing for the first": { found: [first], want: undefined },
};
for (const [behaviour, { found, to, want }] of Object.entries(cases))
  test(`undo returns to ${behaviour}`, () => {
    expect(undoTarget(found, to)?.metadata.name).toBe(want);
  });
