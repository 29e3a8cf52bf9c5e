import { expect, test } from "vitest";
import { createCache } from "../store/create-cache.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createServiceHoldings } from "./service-holdings.ts";

test("the holdings of a removed cluster are dropped", async () => {
  const holdings = createServiceHoldings(await createCache(createMemoryEngine()));
  const before = holdings.of("paris");

  holdings.forget("paris");

  expect(holdings.of("paris")).not.toBe(before);
});
