/**
 * Renders a report as text for a terminal: what was not checked, each finding with the commands to run, problems first, what
 * was not checked because of these problems, then a line for each check. Pure.
 */
import { conciseReason } from "../health/concise.ts";
import { splitNotChecked } from "../health/not-checked.ts";
import type { Paint } from "../paint.ts";
import { renderTable } from "../text-table.ts";
import { padTo, shorten, wrapWords, printable, counted } from "../text-layout.ts";
import type { DoctorCheck, DoctorFinding, Verdict } from "./doctor-check.ts";
import type { CheckResult, DoctorReport } from "./run-checks.ts";

const INDENT = "  ";
const MEMBER = /^member (\S+)/;

const WORDS: Readonly<Record<Verdict, string>> = {
  ok: "ok",
  warning: "WARNING",
  problem: "PROBLEM",
  partly: "partly",
  unknown: "not checked",
  skipped: "skipped",
};

interface Page {
  paint: Paint;
  /** Of the terminal; without one, lines are as long as what they say. */
  width?: number | undefined;
}

export function renderDoctor(report: DoctorReport, { paint, width = Infinity }: Page): string {
  const { server, checks } = report;
  const findings = checks.flatMap((check) => check.findings.map((finding) => ({ check, finding })));
  const isProblem = ({ finding }: (typeof findings)[number]): boolean => finding.severity === "problem";
  const sick = findings.filter(isProblem).flatMap(({ finding: { about } }) => MEMBER.exec(about)?.[1] ?? []);
  const unseen = splitNotChecked(notChecked(checks), new Set(sick));
  return [
    `hub ${server}`,
    ...renderNotChecked(unseen.first, paint, width),
    ...[...findings.filter(isProblem), ...findings.filter((found) => !isProblem(found))].map(({ check, finding }) =>
      renderFinding(check, finding, paint, width),
    ),
    ...renderNotChecked(unseen.following, paint, width),
    renderChecks(checks, paint, width),
    renderSummary(report, paint),
  ].join("\n\n");
}

/** Checks without a result for the same reason are one line. */
function notChecked(checks: readonly CheckResult[]): string[] {
  const unknown = Map.groupBy(
    checks.filter(({ verdict }) => verdict === "unknown"),
    ({ seen }) => seen,
  );
  return [
    ...Array.from(unknown, ([seen, alike]) => `${alike.map(({ name }) => name).join(", ")}: ${seen}`),
    ...checks.flatMap(({ name, unseen }) => unseen.map((reason) => `${name}: ${reason}`)),
  ];
}

function renderNotChecked(lines: readonly string[], paint: Paint, width: number): string[] {
  if (lines.length === 0) return [];
  return [[paint.yellow("NOT CHECKED:"), ...lines.flatMap((line) => indented(line, width))].join("\n")];
}

/** Long observations continue on the next line, below their column. */
function renderChecks(checks: readonly CheckResult[], paint: Paint, width: number): string {
  const nameWidth = Math.max("CHECK".length, ...checks.map(({ name }) => name.length)) + 2;
  const wordWidth = Math.max("RESULT".length, ...checks.map(({ verdict }) => WORDS[verdict].length)) + 2;
  const rows = checks.flatMap(({ name, verdict, seen }) => {
    const lines = wrapWords(printable(seen), Math.max(20, width - nameWidth - wordWidth));
    return lines.map((line, index) =>
      (index === 0
        ? `${padTo(name, nameWidth)}${padTo(painted(verdict, paint), wordWidth)}${line}`
        : `${" ".repeat(nameWidth + wordWidth)}${line}`
      ).trimEnd(),
    );
  });
  return [`${padTo("CHECK", nameWidth)}${padTo("RESULT", wordWidth)}SEEN`, ...rows].join("\n");
}

function painted(verdict: Verdict, paint: Paint): string {
  const word = WORDS[verdict];
  return verdict === "problem"
    ? paint.red(word)
    : verdict === "ok"
      ? paint.green(word)
      : verdict === "skipped"
        ? paint.dim(word)
        : paint.yellow(word);
}

function renderFinding({ name }: CheckResult, finding: DoctorFinding, paint: Paint, width: number): string {
  const { severity, about, seen, fix, commands } = finding;
  const mark = severity === "problem" ? paint.red("PROBLEM") : paint.yellow("WARNING");
  return [
    `${mark} ${name}: ${shorten(printable(about), Math.max(20, width - name.length - 11))}`,
    ...indented(conciseReason(seen, about), width),
    ...indented(`fix: ${fix}`, width),
    // Never wrapped, so that they can be copied.
    ...commands.map((command) => `${INDENT}${INDENT}${paint.bold(printable(command))}`),
  ].join("\n");
}

const indented = (text: string, width: number): string[] =>
  wrapWords(printable(text).replaceAll("`", "'").trim(), width - 4).map(
    (line, index) => `${INDENT}${index === 0 ? "" : INDENT}${line}`,
  );

function renderSummary({ checks, problems, warnings, unknown }: DoctorReport, paint: Paint): string {
  const skipped = checks.filter(({ verdict }) => verdict === "skipped").length;
  const parts = [
    `${problems} ${problems === 1 ? "problem" : "problems"}`,
    `${warnings} ${warnings === 1 ? "warning" : "warnings"}${unknown > 0 ? " in what was checked" : ""}`,
    ...(unknown > 0 ? [`${unknown} could not check everything`] : []),
  ];
  const text = `${parts.join(", ")}; ${counted(checks.length - skipped, "check")}`;
  return problems > 0 ? paint.red(text) : warnings + unknown > 0 ? paint.yellow(text) : paint.green(text);
}

export function renderList(checks: readonly DoctorCheck[], { width }: Page): string {
  return renderTable(
    ["CHECK", "DESCRIPTION"],
    checks.map(({ name, summary }) => [name, summary]),
    2,
    width,
  );
}
