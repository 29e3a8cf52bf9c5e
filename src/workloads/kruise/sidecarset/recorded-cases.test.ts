/** SidecarSets against inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { equalJson } from "../../../base/index.ts";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import type { RecordedCase } from "../testdata/read-cases.ts";
import { sidecarSetCases } from "../testdata/sidecarset-cases.ts";

/** What upstream answers by chance is recorded as a list of answers, of which ours must be one. */
type Recorded = RecordedCase<never, never> & { wantAnyOf?: never[] };

describe("SidecarSets are OpenKruise's", () => {
  for (const [kind, run] of Object.entries(sidecarSetCases)) {
    const cases = readCases<never, never>("sidecarset.jsonl.gz", kind).map((recorded: Recorded) => {
      const accepted =
        recorded.wantAnyOf?.find((want) => equalJson(want, run(recorded.input, want))) ?? recorded.wantAnyOf?.[0];
      return accepted === undefined ? recorded : { ...recorded, want: accepted };
    });
    checkCases(kind, cases, run);
  }
});
