/**
 * `openkruise-cloneset.jsonl` and `openkruise-inplace.jsonl`: what OpenKruise's own functions decide, asked
 * of the planners that the controllers use.
 */
import { equalJson } from "../../../src/base/index.ts";
import { cloneSetCases, whyCloneSetDiffers } from "../../../src/workloads/kruise/testdata/cloneset-cases.ts";
import { inPlaceCases } from "../../../src/workloads/kruise/testdata/in-place-cases.ts";
import { plain } from "../../../src/workloads/kruise/testdata/plain.ts";
import type { RecordedRun } from "../../../src/workloads/kruise/testdata/read-cases.ts";
import { pick } from "../compare.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

/** By the kind of the case. */
function runnerOf(kinds: Readonly<Record<string, RecordedRun>>, reasonFor: (line: GoldenCase) => string | undefined = () => undefined): CaseRunner {
  return {
    check({ input, want }) {
      const got = pick(kinds, input?.["kind"])(input as never, want as never);
      return equalJson(plain(got), plain(want)) ? undefined : `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
    },
    reasonFor,
  };
}

export const openKruiseCloneSet = runnerOf(cloneSetCases, ({ input }) => whyCloneSetDiffers(input as never));
export const openKruiseInPlace = runnerOf(inPlaceCases);
