/** Runs the rules on manifests, and sorts their findings by file. */
import { compareText } from "@flotilla/base";
import type { HubAnswers } from "./hub-answers.ts";
import { formatPath } from "./fields.ts";
import { createLintFleet } from "./lint-fleet.ts";
import { isIgnored } from "./lint-manifest.ts";
import type { ReadManifests } from "./lint-manifest.ts";
import type { LintRule, Severity } from "./rule.ts";

export interface Finding {
  rule: string;
  severity: Severity;
  file: string;
  line: number;
  /** `CloneSet shop/web`; empty for a file that is not a manifest. */
  object: string;
  /** `spec.updateStrategy.partition`; unset for the whole manifest. */
  field?: string;
  message: string;
  why: string;
  fix: string;
  /** Where the rule is documented. */
  doc: string;
}

export interface LintResult {
  findings: Finding[];
  errors: number;
  warnings: number;
  /** Findings that the manifests disabled. */
  ignored: number;
  manifests: number;
  files: number;
  /** Documents that are not manifests. */
  passedOver: number;
}

/** More are counted and not listed: a folder of a thousand manifests with the same mistake has one mistake. */
export const MAX_FINDINGS = 1_000;

export interface LintOptions {
  rules: readonly LintRule[];
  answers: HubAnswers;
  /** Warnings count as errors. */
  strict: boolean;
}

export function lintManifests(read: ReadManifests, { rules, answers, strict }: LintOptions): LintResult {
  const fleet = createLintFleet(read, answers);
  const result: LintResult = {
    findings: [],
    errors: 0,
    warnings: 0,
    ignored: 0,
    manifests: read.manifests.filter(({ inside }) => !inside).length,
    files: new Set([...read.manifests, ...read.unreadable].map(({ file }) => file)).size,
    passedOver: read.passedOver,
  };
  for (const rule of rules) {
    for (const report of rule.check(fleet)) {
      const { manifest, path, message } = report;
      if (isIgnored(manifest, rule.id)) {
        result.ignored += 1;
        continue;
      }
      const severity = strict ? "error" : (report.severity ?? rule.severity);
      result[severity === "error" ? "errors" : "warnings"] += 1;
      if (result.findings.length >= MAX_FINDINGS) continue;
      const field = path && path.length > 0 ? formatPath(path) : undefined;
      result.findings.push({
        rule: rule.id,
        severity,
        file: manifest.file,
        line: manifest.lineOf(path ?? []),
        object: manifest.name === "" && manifest.kind === "" ? "" : manifest.title,
        field,
        message,
        why: rule.why,
        fix: report.fix ?? rule.fix,
        doc: `docs/reference/lint.md#${rule.id}`,
      });
    }
  }
  result.findings.sort((a, b) => compareText(a.file, b.file) || a.line - b.line || compareText(a.rule, b.rule));
  return result;
}
