/** AdvancedCronJobs compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import { cronCases } from "./testdata/cron-cases.ts";

describe("AdvancedCronJobs match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(cronCases))
    checkCases(kind, readCases<never, never>(new URL("./testdata/cron.jsonl.gz", import.meta.url), kind), run);
});
