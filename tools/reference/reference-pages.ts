/**
 * The pages of docs/reference, files of the Helm chart and lists of kinds, each generated from code. `npm run
 * reference` writes them, and reference.test.ts fails
 * if one of them is out of date. A new page is one more entry here.
 */
import { chartFiles } from "./chart-files.ts";
import { renderCommandLine } from "./command-line.ts";
import { renderErrors } from "./errors.ts";
import { kindPages } from "./kinds.ts";
import { renderLint } from "./lint.ts";
import { renderMetrics } from "./metrics.ts";
import { workloadLists } from "./workload-lists.ts";

export interface ReferencePage {
  /** Relative to the root of the checkout. */
  file: string;
  /** Pure, so that the same code always gives the same page. */
  render(): string | Promise<string>;
}

export const pages: readonly ReferencePage[] = [
  { file: "docs/reference/cli.md", render: renderCommandLine },
  { file: "docs/reference/errors.md", render: renderErrors },
  { file: "docs/reference/lint.md", render: renderLint },
  { file: "docs/reference/metrics.md", render: renderMetrics },
  ...kindPages,
  ...chartFiles,
  ...workloadLists,
];
