import { expect, test } from "vitest";
import { SharedCheck } from "./shared-check.ts";

/** A check whose rounds are ended by hand. */
function manualCheck() {
  const rounds: PromiseWithResolvers<void>[] = [];
  const check = new SharedCheck(() => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    return round.promise;
  });
  return { check, rounds };
}

test("callers that come during a check share the next one", async () => {
  const { check, rounds } = manualCheck();
  const ended: string[] = [];
  const first = check.run().then(() => ended.push("first"));
  const later = [check.run(), check.run()].map((run) => run.then(() => ended.push("later")));

  rounds[0]?.resolve();
  await first;

  expect(ended).toEqual(["first"]);
  await Promise.resolve();
  expect(rounds).toHaveLength(2);
  rounds[1]?.resolve();
  await Promise.all(later);
  expect(ended).toEqual(["first", "later", "later"]);
});

test("a failed check fails its callers and not the next ones", async () => {
  const { check, rounds } = manualCheck();
  const first = check.run();
  const second = check.run();

  rounds[0]?.reject(new Error("unreachable"));

  await expect(first).rejects.toThrow("unreachable");
  await Promise.resolve();
  rounds[1]?.resolve();
  await expect(second).resolves.toBeUndefined();
});
