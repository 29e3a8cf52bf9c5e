import { expect, test } from "vitest";
import { createCache, createMemoryEngine } from "../../store/index.ts";
import { createServiceHoldings } from "./service-holdings.ts";

test("the holdings of a removed cluster are dropped", async () => {
  const holdings = createServiceHoldings(await createCache(createMemoryEngine()));
  const before = holdings.of("paris");

  holdings.forget("paris");

  expect(holdings.of("paris")).not.toBe(before);
});
