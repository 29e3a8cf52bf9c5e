/** PodUnavailableBudgets compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { budgetCases } from "./testdata/pub-cases.ts";
import { readCases } from "../testdata/read-cases.ts";

describe("PodUnavailableBudgets match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(budgetCases))
    checkCases(kind, readCases<never, never>(new URL("./testdata/pub.jsonl.gz", import.meta.url), kind), run);
});
