/**
 * Random releases over a model of a fleet: late messages, lost members, a hub that is killed. `RELEASES=10000` runs more
 * of them; the shortest history that fails is printed.
 */
import { expect, test } from "vitest";
import { makeScenario, runScenario, shrink } from "./test-release-model.ts";

const RELEASES = Number(process.env["RELEASES"] ?? 300);

test("no random release takes down more than its budget, runs ahead of its waves, continues after a failure, or never ends", () => {
  const phases = new Map<string, number>();
  let failure: string | undefined;
  for (let seed = 1; seed <= RELEASES && failure === undefined; seed++) {
    const { violation, phase = "none" } = runScenario(makeScenario(seed));
    phases.set(phase, (phases.get(phase) ?? 0) + 1);
    if (violation === undefined) continue;
    const shortest = shrink(makeScenario(seed));
    failure = [
      `seed ${seed}: ${shortest.outcome.violation}`,
      JSON.stringify(shortest.scenario),
      ...shortest.outcome.history,
    ].join("\n");
  }

  expect(failure).toBeUndefined();
  // Releases that succeed, that are rolled back and that pause are all among them.
  expect([...phases.keys()].toSorted()).toEqual(expect.arrayContaining(["Paused", "RolledBack", "Succeeded"]));
});
