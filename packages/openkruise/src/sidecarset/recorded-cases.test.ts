/** SidecarSets compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { equalJson } from "@flotilla/base";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import type { RecordedCase } from "../testdata/read-cases.ts";
import { sidecarSetCases } from "./testdata/sidecarset-cases.ts";

/** Random results of upstream are recorded as a list, and our result must be one of them. */
type Recorded = RecordedCase<never, never> & { wantAnyOf?: never[] };

describe("SidecarSets match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(sidecarSetCases)) {
    const cases = readCases<never, never>(new URL("./testdata/sidecarset.jsonl.gz", import.meta.url), kind).map(
      (recorded: Recorded) => {
        const accepted =
          recorded.wantAnyOf?.find((want) => equalJson(want, run(recorded.input, want))) ?? recorded.wantAnyOf?.[0];
        return accepted === undefined ? recorded : { ...recorded, want: accepted };
      },
    );
    checkCases(kind, cases, run);
  }
});
