/** In-place updates and revisions compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import { checkCases } from "../testdata/check-cases.ts";
import { inPlaceCases } from "./testdata/in-place-cases.ts";
import { readCases } from "../testdata/read-cases.ts";

describe("in-place updates and revisions match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(inPlaceCases))
    checkCases(kind, readCases<never, never>(new URL("./testdata/in-place.jsonl.gz", import.meta.url), kind), run);
});
