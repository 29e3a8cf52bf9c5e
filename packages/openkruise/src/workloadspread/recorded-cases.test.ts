/** Compares the planners of WorkloadSpreads with recorded decisions of OpenKruise 1.9.1. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import { workloadSpreadCases } from "./testdata/workloadspread-cases.ts";

describe("OpenKruise's own decisions", () => {
  for (const [kind, run] of Object.entries(workloadSpreadCases))
    checkCases(
      kind,
      readCases<never, never>(new URL("./testdata/workloadspread.jsonl.gz", import.meta.url), kind),
      run,
    );
});
