import { expect, test } from "vitest";
import { reconcileUntilQuiet } from "./reconcile-until-quiet.ts";

test("the error names the components that are still busy when the turns are used up", async () => {
  const managers = [
    { isQuiet: () => true, busy: () => [] },
    { isQuiet: () => false, busy: () => ["dispatch: 2 queued, 1 running (hub/shop/web)"] },
  ];

  const waiting = reconcileUntilQuiet({ managers, maxTurns: 20 });

  await expect(waiting).rejects.toThrow(
    "still busy after 20 turns of the event loop: dispatch: 2 queued, 1 running (hub/shop/web)",
  );
});

test("a single quiet turn is not enough", async () => {
  let looks = 0;
  const restless = { isQuiet: () => ++looks % 5 !== 0 };

  const waiting = reconcileUntilQuiet({ managers: [], server: restless, maxTurns: 100 });

  await expect(waiting).rejects.toThrow("still busy");
});

test("reconciling ends once everything has been quiet for several turns", async () => {
  let looks = 0;
  const settling = { isQuiet: () => ++looks > 50 };

  await reconcileUntilQuiet({ managers: [], others: [settling] });

  expect(looks).toBeGreaterThan(50);
});
