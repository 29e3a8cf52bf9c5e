import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createPace } from "./workloads-pace.ts";

test("a small workload is reconciled on every change", () => {
  const pace = createPace(createFakeClock());

  pace.looked("web", 99);

  expect(pace.leftMs("web")).toBe(0);
});

test("a large workload is delayed in proportion to its pods, and no longer", () => {
  const clock = createFakeClock();
  const pace = createPace(clock);

  pace.looked("web", 5_000);
  const first = pace.leftMs("web");
  clock.advance(50);

  expect([first, pace.leftMs("web"), pace.leftMs("other")]).toEqual([50, 0, 0]);
});
