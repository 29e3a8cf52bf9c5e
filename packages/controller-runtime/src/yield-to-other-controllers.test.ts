import { expect, test } from "vitest";
import { silentLog } from "@flotilla/base";
import { defineKeyedController } from "./define-controller.ts";
import { done } from "./runtime-controller.ts";
import { yieldToOtherControllers } from "./yield-to-other-controllers.ts";
import type { YieldConditions as Elsewhere } from "./yield-to-other-controllers.ts";
import type { Result, RunContext } from "./runtime-controller.ts";

const cases: Record<string, { elsewhere: Elsewhere; want: { ran: boolean; result: Result } }> = {
  "reconciles where no other controller does": { elsewhere: {}, want: { ran: true, result: done } },
  "ignores a foreign cluster permanently": {
    elsewhere: { isForeign: (cluster) => cluster === "paris", isTaken: () => true },
    want: { ran: false, result: done },
  },
  "keeps a key and retries it while another controller does the work": {
    elsewhere: { isTaken: (cluster) => cluster === "paris" },
    want: { ran: false, result: { requeueAfterMs: 15_000 } },
  },
};

for (const [behaviour, { elsewhere, want }] of Object.entries(cases)) {
  for (const key of ["paris", { cluster: "paris", name: "web" }]) {
    test(`${behaviour}, by ${typeof key === "string" ? "a cluster" : "a key in a cluster"}`, async () => {
      let ran = false;
      const controller = defineKeyedController<typeof key>({
        name: "test",
        writes: [],
        sources: [],
        idOf: String,
        async reconcile() {
          ran = true;
          return done;
        },
      });

      const result = await yieldToOtherControllers(controller, elsewhere).reconcile(key, {
        log: silentLog,
        signal: new AbortController().signal,
      } as RunContext);

      expect({ ran, result }).toEqual(want);
    });
  }
}
