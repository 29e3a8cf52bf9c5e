/** Formats results: a line while tests run, a summary at the end, and the table of docs/conformance.md. */
import type { Outcome } from "./outcome.ts";
import type { TestResult } from "./suite.ts";

type Result = Outcome["result"];
const RESULTS: readonly Result[] = ["passed", "failed", "timed out", "skipped"];

export function renderLine({ test, result, seconds, reason }: TestResult, done: number, total: number): string {
  const line = `${String(done).padStart(String(total).length)}/${total} ${result.padEnd(9)} ${seconds.toFixed(1).padStart(5)} s  ${test.name}`;
  return reason === undefined ? line : `${line}\n      ${reason}`;
}

export function renderSummary(results: readonly TestResult[]): string {
  const lines = results
    .filter(({ result }) => result === "failed" || result === "timed out")
    .map(({ test, reason }) => `  ${test.name}\n    ${reason ?? ""}`);
  const counts = [...suitesOf(results)].map(([suite, of]) => `${suite}: ${countsOf(of)}`);
  return [...(lines.length > 0 ? ["not passed:", ...lines] : []), ...counts, `all: ${countsOf(results)}`].join("\n");
}

/** Every test with its result; a known missing feature is more useful than the failure. */
export function renderTable(results: readonly TestResult[]): string {
  const causeOf = ({ test, result, reason = "" }: TestResult): string =>
    result !== "passed" && test.needs !== undefined ? `needs ${test.needs}` : reason;
  const rows = results.map(
    (result) =>
      `| ${result.test.suite} | ${escapeCell(result.test.name)} | ${result.result} | ${escapeCell(causeOf(result))} |`,
  );
  return ["| suite | test | result | cause |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function suitesOf(results: readonly TestResult[]): Map<string, TestResult[]> {
  return Map.groupBy(results, ({ test }) => test.suite);
}

function countsOf(results: readonly TestResult[]): string {
  const counts = RESULTS.map((wanted) => [wanted, results.filter(({ result }) => result === wanted).length] as const);
  return counts
    .filter(([result, number]) => number > 0 || result === "passed")
    .map(([result, number]) => `${number} ${result}`)
    .join(", ");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll("<", "&lt;");
}
