/** Every planner compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { cloneSetCases } from "./testdata/cloneset-cases.ts";
import { readCases } from "../testdata/read-cases.ts";

/** Cases with OnDelete; see `whyCloneSetDiffers`. */
const DIFFERENT = ["cloneset/update/0964", "cloneset/update/1008", "cloneset/update/1019", "cloneset/update/1062"];

describe("CloneSet planners match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(cloneSetCases))
    checkCases(
      kind,
      readCases<never, never>(new URL("./testdata/cloneset.jsonl.gz", import.meta.url), kind),
      run,
      DIFFERENT,
    );
});
