/** Releases by partition while users' interpreter rules are in place: a release does what was asked, or stops. */
import { afterEach, describe, expect, test } from "vitest";
import { GUIDE_HEALTH, startRulesFleet } from "./rules-fleet.ts";
import type { ReleaseRecord, RulesFleet } from "./rules-fleet.ts";

let fleet: RulesFleet;
afterEach(() => fleet.stop());

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Runs the fleet and returns the values of UPDATED on the hub, without repetitions. */
async function updatedOver(ms: number): Promise<number[]> {
  const seen: number[] = [];
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    await fleet.run(SECOND_MS);
    const updated = (await fleet.read("hub")).status?.updatedReplicas ?? 0;
    if (seen.at(-1) !== updated) seen.push(updated);
  }
  return seen;
}

describe("a rule for health", () => {
  /** Image 2 with partition 7, then 5, 2 and 8. */
  async function play(
    customizations: object | undefined,
  ): Promise<{ works: ReleaseRecord["works"]; updated: number[][] }> {
    fleet = await startRulesFleet({ partition: 7 });
    if (customizations) await fleet.customize(customizations);
    fleet.record();
    const updated: number[][] = [];
    for (const change of [{ image: "web:2" }, { partition: 5 }, { partition: 2 }, { partition: 8 }]) {
      await fleet.release(change);
      updated.push(await updatedOver(MINUTE_MS));
    }
    const { works } = fleet.record();
    await fleet.stop();
    return { works, updated };
  }

  test("changes neither the Works of a release nor the order in which pods are updated", async () => {
    const plain = await play(undefined);
    const ruled = await play(GUIDE_HEALTH);

    expect(ruled.works).toEqual(plain.works);
    const [released = [], ...steps] = ruled.updated;
    // The first value counts pods of the image before.
    expect(released.slice(1)).toEqual(released.slice(1).toSorted((a, b) => a - b));
    expect(released.at(-1)).toBe(3);
    expect(steps.map((step) => step.at(-1))).toEqual([5, 8, 2]);
    for (const [index, step] of steps.entries())
      expect(step).toEqual(step.toSorted((a, b) => (index < 2 ? a - b : b - a)));
  });
});
