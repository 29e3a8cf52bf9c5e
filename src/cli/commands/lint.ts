/** `flotilla lint`: what in manifests will surprise their author, before anything is applied. Nothing is written. */
import { UsageError } from "../../base/index.ts";
import type { Json } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const FOUND_ERRORS = 1;

export const lintCommand = defineCommand({
  name: "lint",
  summary: "find mistakes and pitfalls in manifests before you apply them, without a server",
  details:
    "Looks at policies, overrides, interpreters, OpenKruise workloads, Placements and ManifestWorks together. Exit code 0 without errors, warnings allowed; 1 with errors. A manifest silences rules with the annotation flotilla.dev/lint-ignore: ID,ID or a comment of these words.",
  example: [
    { says: "Look at a folder.", run: "flotilla lint -f shop/ --recursive" },
    { says: "Let warnings fail, too, as in a pipeline.", run: "flotilla lint -f shop/ -R --strict" },
    {
      says: "Ask your hub, which knows its members and its own kinds.",
      run: "flotilla lint -f web.yaml --against-hub",
    },
    { says: "Read what the rules are, and why.", run: "flotilla lint --list" },
  ],
  args: [],
  flags: {
    filename: {
      type: "string",
      short: "f",
      value: "FILE",
      repeated: true,
      completes: "file",
      description: "manifests: a file, folder, pattern, address, or - for standard input; may be repeated",
    },
    recursive: { type: "boolean", short: "R", description: "also look in the folders of a folder" },
    rule: { type: "string", value: "ID", repeated: true, description: "ask this rule alone; may be repeated" },
    ignore: { type: "string", value: "ID", repeated: true, description: "do not ask this rule; may be repeated" },
    strict: { type: "boolean", description: "count warnings as errors" },
    list: { type: "boolean", description: "list the rules instead, each with why it matters and what to do" },
    "against-hub": {
      type: "boolean",
      description: "ask the hub in dry runs, instead of one that lives as long as the question",
    },
    namespace: {
      type: "string",
      short: "n",
      value: "NS",
      default: "default",
      description: "for manifests that name no namespace",
    },
    ...hubFlags,
  },
  async run({ flags, output, signal, connect, environment, readInput, openOfflineHub }) {
    const [{ chooseRules, lintSources }, { renderLint, renderRules }, { download, Sources }] = await Promise.all([
      import("../lint/lint-input.ts"),
      import("../lint/render-lint.ts"),
      import("../interpret/sources.ts"),
    ]);
    const rules = chooseRules(flags.rule, flags.ignore);
    if (flags.list) {
      output.result(
        { rules: rules.map(({ id, severity, summary, why, fix }) => ({ id, severity, summary, why, fix })) },
        () => renderRules(rules, output),
      );
      return 0;
    }
    if (flags.filename.length === 0) throw new UsageError("say what to look at: -f FILE");
    const sources = await new Sources({ readInput, download: (url) => download(url, signal) }).read(flags.filename, {
      recursive: flags.recursive,
    });
    output.progress("looking");
    const { client, close } = flags["against-hub"]
      ? await connect(hubKubeconfig(flags, environment))
      : await openOfflineHub();
    try {
      const result = await lintSources(
        { sources, rules, strict: flags.strict, namespace: flags.namespace },
        { client, isReal: flags["against-hub"] },
        signal,
      );
      output.progress("");
      if (result.files === 0) throw new UsageError(`${flags.filename.join(", ")} holds no objects`);
      output.result(result as unknown as Json, () => output.called(renderLint(result, output)));
      return result.errors > 0 ? FOUND_ERRORS : 0;
    } finally {
      await close();
    }
  },
});
