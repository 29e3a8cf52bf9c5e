/** Defines a lint rule: it examines all manifests together and reports what will surprise their author. */
import type { FieldPath } from "./fields.ts";
import type { LintFleet } from "./lint-fleet.ts";
import type { LintManifest } from "./lint-manifest.ts";

/** An error is rejected by the hub or cannot work; a warning works, but rarely as intended. */
export type Severity = "error" | "warning";

export interface LintRule {
  /**
   * In kebab-case. Used as the anchor in docs/reference/lint.md and by `--rule`, `--ignore` and
   * `flotilla.dev/lint-ignore`.
   */
  readonly id: string;
  readonly severity: Severity;
  /** One line: what is wrong. */
  readonly summary: string;
  /** The consequence, in sentences. */
  readonly why: string;
  /** What to write instead. */
  readonly fix: string;
  check(fleet: LintFleet): Iterable<Report>;
}

/** One violation of a rule. */
export interface Report {
  readonly manifest: LintManifest;
  /** The field in the manifest; if unset, the whole manifest. */
  readonly path?: FieldPath;
  /** What was found, in the manifest's terms. */
  readonly message: string;
  /** Set if more specific than the rule's own. */
  readonly fix?: string;
  /** Set if different from the rule's own. */
  readonly severity?: Severity;
}

export const defineRule = (rule: LintRule): LintRule => rule;
