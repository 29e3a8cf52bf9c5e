/** BroadcastJobs compared with reconciles recorded from OpenKruise's own controller. */
import { describe } from "vitest";
import { broadcastJobCases } from "./testdata/broadcastjob-cases.ts";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";

/** Upstream panics in this case; see `whyBroadcastJobDiffers`. */
const DIFFERENT = ["broadcastjob/reconcile/0248"];

describe("BroadcastJobs match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(broadcastJobCases))
    checkCases(
      kind,
      readCases<never, never>(new URL("./testdata/broadcastjob.jsonl.gz", import.meta.url), kind),
      run,
      DIFFERENT,
    );
});
