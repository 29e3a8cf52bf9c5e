/** Complete rollouts compared with traces recorded from OpenKruise, reconcile by reconcile. */
import { describe, expect, test } from "vitest";
import { readCases } from "../testdata/read-cases.ts";
import { traceStatefulSet } from "./testdata/statefulset-trace.ts";

describe("Advanced StatefulSet rollouts match OpenKruise's recorded traces", () => {
  for (const { name, input, want } of readCases<Parameters<typeof traceStatefulSet>[0], object>(
    new URL("./testdata/statefulset-traces.jsonl.gz", import.meta.url),
    "statefulset",
  )) {
    test(`as recorded in ${name}`, () => {
      expect(traceStatefulSet(input)).toEqual(want);
    });
  }
});
