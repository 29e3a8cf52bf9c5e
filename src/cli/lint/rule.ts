/** What a lint rule is: it looks at all manifests together and tells what will surprise their author. */
import type { FieldPath } from "./fields.ts";
import type { LintFleet } from "./lint-fleet.ts";
import type { LintManifest } from "./lint-manifest.ts";

/** An error is refused by the hub or cannot work; a warning works, but rarely as it was meant. */
export type Severity = "error" | "warning";

export interface LintRule {
  /**
   * In kebab-case. It is the anchor in docs/reference/lint.md and what `--rule`, `--ignore` and
   * `flotilla.dev/lint-ignore` name.
   */
  readonly id: string;
  readonly severity: Severity;
  /** One line: what is wrong. */
  readonly summary: string;
  /** What happens then, in sentences. */
  readonly why: string;
  /** What to write instead. */
  readonly fix: string;
  check(fleet: LintFleet): Iterable<Report>;
}

/** One place that breaks a rule. */
export interface Report {
  readonly manifest: LintManifest;
  /** Where in the manifest; unset is the whole of it. */
  readonly path?: FieldPath;
  /** What is there, in the words of the manifest. */
  readonly message: string;
  /** Where it is more exact than the rule's own. */
  readonly fix?: string;
  /** Where it differs from the rule's own. */
  readonly severity?: Severity;
}

export const defineRule = (rule: LintRule): LintRule => rule;
