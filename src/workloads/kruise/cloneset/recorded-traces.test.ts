/** Whole rollouts against traces recorded from OpenKruise, pass by pass. */
import { describe, expect, test } from "vitest";
import { traceCloneSet } from "../testdata/cloneset-trace.ts";
import { readCases } from "../testdata/read-cases.ts";

describe("CloneSet rolls out as OpenKruise does, pass by pass", () => {
  for (const { name, input, want } of readCases<Parameters<typeof traceCloneSet>[0], object>(
    "cloneset-traces.jsonl.gz",
    "cloneset",
  )) {
    test(`as recorded in ${name}`, () => {
      expect(traceCloneSet(input)).toEqual(want);
    });
  }
});
