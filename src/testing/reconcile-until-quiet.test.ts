import { expect, test } from "vitest";
import { reconcileUntilQuiet } from "./reconcile-until-quiet.ts";

test("it names what is still busy when the turns are used up", async () => {
  const managers = [
    { isQuiet: () => true, busy: () => [] },
    { isQuiet: () => false, busy: () => ["dispatch: 2 queued, 1 running (hub/shop/web)"] },
  ];

  const waiting = reconcileUntilQuiet({ managers, maxTurns: 20 });

  await expect(waiting).rejects.toThrow(
    "still busy after 20 turns of the event loop: dispatch: 2 queued, 1 running (hub/shop/web)",
  );
});

test("one quiet moment is not enough", async () => {
  let looks = 0;
  const restless = { isQuiet: () => ++looks % 5 !== 0 };

  const waiting = reconcileUntilQuiet({ managers: [], server: restless, maxTurns: 100 });

  await expect(waiting).rejects.toThrow("still busy");
});

test("it returns once everything has been quiet for a while", async () => {
  let looks = 0;
  const settling = { isQuiet: () => ++looks > 50 };

  await reconcileUntilQuiet({ managers: [], others: [settling] });

  expect(looks).toBeGreaterThan(50);
});
