/** Every planner compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { createDaemonSetCases } from "./testdata/daemonset-cases.ts";
import { readCases } from "../testdata/read-cases.ts";

describe("Advanced DaemonSet planners match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(createDaemonSetCases()))
    checkCases(kind, readCases<never, never>(new URL("./testdata/daemonset.jsonl.gz", import.meta.url), kind), run);
});
