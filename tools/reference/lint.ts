/** The page of `flotilla lint`: every rule with its id as an anchor, from the rules themselves. */
import { RULE_CHAPTERS } from "../../src/cli/lint/rules/index.ts";
import type { LintRule } from "../../src/cli/lint/rule.ts";
import { code, generatedNote, page, table } from "./markdown.ts";

const FOREWORD = `\`flotilla lint -f FILE\` looks at manifests before they are applied. It needs no server: it starts a hub in its own process, asks it in dry runs what it
would say, and lets the rules below look at all manifests together. \`--against-hub\` asks your hub instead, which knows its members and the kinds that
you defined there.

\`\`\`sh
flotilla lint -f examples/shop/ --recursive
flotilla lint -f examples/shop/ -R --rule override-path --rule policy-selects-nothing -o json
\`\`\`

Exit code 0 without errors, warnings allowed; 1 with errors; 2 for wrong usage. \`--strict\` counts warnings as errors. \`--rule ID\` asks some rules alone, \`--ignore ID\`
leaves some out; \`flotilla lint --list\` prints this page in short.

A manifest silences a rule where it is known better, with an annotation or a comment in its document:

\`\`\`yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  annotations: { flotilla.dev/lint-ignore: "two-owners, policies-tie" }   # or the comment below
# flotilla.dev/lint-ignore: two-owners
\`\`\`

Manifests inside of a ManifestWork or ManifestWorkReplicaSet are looked at like others. Where several members get the same manifest undivided, by a ManifestWork for each or by a
policy without \`replicaScheduling\`, \`replicaSchedulingType: Duplicated\` in the policy or the annotation \`flotilla.dev/partition-scope: cluster\` on the workload says that its numbers are meant for each cluster, and the rules about them are silent.`;

export function renderLint(): string {
  return page(
    "# Lint rules",
    generatedNote("src/cli/lint/rules"),
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

function renderRule({ id, severity, summary, why, fix }: LintRule): string {
  return [`### ${id}`, `${code(severity)}: ${summary}.`, why, `**Instead:** ${fix}`].join("\n\n");
}
