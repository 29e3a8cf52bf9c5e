import { expect, test } from "vitest";
import { alignTabs } from "./tab-writer.ts";

test("cells that end in a tab make columns, which are never narrower than further up", () => {
  const lines = alignTabs([
    "TARGET: apps/v1 Deployment\t",
    "RULERS:",
    "    Retain:\tPASS",
    "    InterpretReplica:\tERROR: no\t",
    "    ReviseReplica:\tUNSET",
  ]);

  expect(lines).toEqual([
    "TARGET: apps/v1 Deployment   ",
    "RULERS:",
    "    Retain:                  PASS",
    "    InterpretReplica:        ERROR: no   ",
    "    ReviseReplica:           UNSET",
  ]);
});

test("no lines are no table", () => {
  expect(alignTabs([])).toEqual([]);
});
