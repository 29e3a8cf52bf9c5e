/** Complete rollouts compared with traces recorded from OpenKruise, reconcile by reconcile. */
import { describe, expect, test } from "vitest";
import { traceCloneSet } from "./testdata/cloneset-trace.ts";
import { readCases } from "../testdata/read-cases.ts";

describe("CloneSet rollouts match OpenKruise's recorded traces", () => {
  for (const { name, input, want } of readCases<Parameters<typeof traceCloneSet>[0], object>(
    new URL("./testdata/cloneset-traces.jsonl.gz", import.meta.url),
    "cloneset",
  )) {
    test(`as recorded in ${name}`, () => {
      expect(traceCloneSet(input)).toEqual(want);
    });
  }
});
