import { expect, test } from "vitest";
import { renderLine, renderSummary, renderTable } from "./report.ts";
import type { TestResult } from "./suite.ts";

const result = (name: string, outcome: Partial<TestResult>): TestResult => ({
  test: { name, fullName: name, suite: "conformance", serial: false },
  result: "passed",
  seconds: 1.25,
  ...outcome,
});

test("a line has a count, and the reason of a test that did not pass", () => {
  expect(renderLine(result("a", { result: "failed", reason: "no pods" }), 7, 120)).toBe(
    "  7/120 failed      1.3 s  a\n      no pods",
  );
});

test("the summary lists the tests that did not pass and counts by suite", () => {
  const summary = renderSummary([
    result("a", {}),
    result("b", { result: "failed", reason: "no pods" }),
    result("c", { result: "timed out", reason: "waiting" }),
  ]);

  expect(summary).toBe(
    "not passed:\n  b\n    no pods\n  c\n    waiting\nconformance: 1 passed, 1 failed, 1 timed out\nall: 1 passed, 1 failed, 1 timed out",
  );
});

test("a table keeps its columns whatever a reason contains", () => {
  expect(renderTable([result("a", { result: "failed", reason: "x | y <none>" })])).toContain(
    String.raw`| conformance | a | failed | x \| y &lt;none> |`,
  );
});

test("a test's known missing feature is printed instead of its failure", () => {
  const { test: known } = result("a", {});

  expect(
    renderTable([result("a", { test: { ...known, needs: "webhooks" }, result: "failed", reason: "404" })]),
  ).toContain("| conformance | a | failed | needs webhooks |");
});
