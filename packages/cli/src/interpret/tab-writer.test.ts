import { expect, test } from "vitest";
import { alignTabs } from "./tab-writer.ts";

test("cells that end in a tab form columns, which never get narrower further down", () => {
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

test("a tab writer without lines writes no table", () => {
  expect(alignTabs([])).toEqual([]);
});
