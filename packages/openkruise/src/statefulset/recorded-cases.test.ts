/** Every planner compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import { statefulSetCases } from "./testdata/statefulset-cases.ts";

describe("Advanced StatefulSet planners match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(statefulSetCases))
    checkCases(kind, readCases<never, never>(new URL("./testdata/statefulset.jsonl.gz", import.meta.url), kind), run);
});
