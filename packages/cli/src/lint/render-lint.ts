/** Renders lint findings as text. The fix of a rule is shown with its first finding. Pure. */
import type { Paint } from "../paint.ts";
import { wrapWords, counted, printable } from "../text-layout.ts";
import { MAX_FINDINGS } from "./run-lint.ts";
import type { LintRule } from "./rule.ts";
import type { Finding, LintResult } from "./run-lint.ts";

export function renderLint(
  result: LintResult,
  { paint, width = Infinity }: { paint: Paint; width?: number | undefined },
): string {
  const explained = new Set<string>();
  const blocks = result.findings.map((finding) => {
    const isFirst = !explained.has(finding.rule);
    explained.add(finding.rule);
    return renderFinding(finding, isFirst, paint, width);
  });
  const left = result.errors + result.warnings - result.findings.length;
  const more = left > 0 ? [`and ${left} more; the first ${MAX_FINDINGS} are shown`] : [];
  return [...blocks, ...more, renderSummary(result, paint)].join("\n\n");
}

function renderFinding(finding: Finding, isFirst: boolean, paint: Paint, width: number): string {
  const { rule, severity, file, line, object, field, message, fix } = finding;
  const mark = severity === "error" ? paint.red("error") : paint.yellow("warning");
  const about = [object, field].filter((text) => text !== undefined && text !== "").join(" ");
  return [
    `${paint.bold(`${file}:${line}`)}  ${mark}  ${rule}`,
    ...indented(about === "" ? message : `${about}: ${message}`, width),
    ...(isFirst ? indented(`fix: ${fix.replaceAll("`", "")}`, width) : []),
  ].join("\n");
}

const indented = (text: string, width: number): string[] =>
  wrapWords(printable(text), width - 4).map((line, index) => `  ${index === 0 ? "" : "  "}${line}`);

function renderSummary(result: LintResult, paint: Paint): string {
  const { errors, warnings, ignored, manifests, files, passedOver } = result;
  const others = passedOver > 0 ? `; ${counted(passedOver, "document")} of other kinds skipped` : "";
  const where = `${counted(manifests, "manifest")} in ${counted(files, "file")}${others}`;
  const silenced = ignored > 0 ? `, ${ignored} silenced` : "";
  if (errors + warnings === 0) return `${paint.green("clean")}: ${where}${silenced}`;
  return `${counted(errors, "error")}, ${counted(warnings, "warning")}${silenced} in ${where}; run 'flotilla lint --list' for the reasons`;
}

export function renderRules(
  rules: readonly LintRule[],
  { paint, width = Infinity }: { paint: Paint; width?: number | undefined },
): string {
  return rules
    .map(({ id, severity, summary, why, fix }) =>
      [
        `${paint.bold(id)}  ${severity === "error" ? paint.red(severity) : paint.yellow(severity)}`,
        ...[summary, why, `fix: ${fix}`].flatMap((text) => indented(text.replaceAll("`", ""), width)),
      ].join("\n"),
    )
    .join("\n\n");
}
