/** The page of `flotilla lint`: every rule with its id as an anchor, generated from the rules. */
import type { LintRule } from "../../packages/cli/src/lint/rule.ts";
import { RULE_CHAPTERS } from "../../packages/cli/src/lint/rules/index.ts";
import { code, generatedNote, page, table } from "./markdown.ts";

const FOREWORD = `\`flotilla lint -f FILE\` checks manifests before they are applied. It needs no server: it starts a \
hub in its own process, validates the manifests there with dry runs,
and checks all manifests together with the rules below. \`--against-hub\` uses your hub instead, which knows its members and the CRDs
that you installed there.

\`\`\`sh
flotilla lint -f examples/shop/ --recursive
flotilla lint -f examples/shop/ -R --rule override-path --rule policy-selects-nothing -o json
\`\`\`

Exit code 0 without errors, warnings allowed; 1 with errors; 2 for wrong usage. \`--strict\` treats warnings as \
errors. \`--rule ID\` runs only some rules, \`--ignore ID\`
skips some; \`flotilla lint --list\` prints a short form of this page.

A manifest silences a rule with an annotation or a comment in its document:

\`\`\`yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  annotations: { flotilla.dev/lint-ignore: "two-owners, policies-tie" }   # or the comment below
# flotilla.dev/lint-ignore: two-owners
\`\`\`

Manifests inside a ManifestWork or ManifestWorkReplicaSet are checked like others. If several members get the same \
manifest undivided, by a ManifestWork for each or by a
policy without \`replicaScheduling\`, set \`replicaSchedulingType: Duplicated\` in the policy or the annotation \
\`flotilla.dev/partition-scope: cluster\` on the workload to declare that its numbers apply to each cluster; the rules about them are then silent.`;

export function renderLint(): string {
  return page(
    "# Lint rules",
    generatedNote("packages/cli/src/lint/rules"),
    FOREWORD,
    ...RULE_CHAPTERS.map(({ title, rules }) =>
      table(
        [title, ""],
        rules.map(({ id, summary }) => [`[${id}](#${id})`, summary]),
      ),
    ),
    ...RULE_CHAPTERS.flatMap(({ title, says, rules }) => [`## ${title}`, says, ...rules.map(renderRule)]),
  );
}

function renderRule(rule: LintRule): string {
  const { id, severity, summary, why, fix } = rule;
  return [`### ${id}`, `${code(severity)}: ${summary}.`, why, `**Instead:** ${fix}`].join("\n\n");
}
