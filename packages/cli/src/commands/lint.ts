/** `flotilla lint`: finds mistakes and pitfalls in manifests before they are applied. Read-only. */
import { UsageError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { HubConnection } from "../command.ts";
import { manifestFlags } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const FOUND_ERRORS = 1;

export const lintCommand = defineCommand({
  name: "lint",
  summary: "find mistakes and pitfalls in manifests before you apply them, without a server",
  details:
    "Checks policies, overrides, interpreters, OpenKruise workloads, Placements and ManifestWorks " +
    "together. The exit code is 0 without errors (warnings are allowed) and 1 with errors. A manifest " +
    "disables rules with the annotation flotilla.dev/lint-ignore: ID,ID or a comment with the same text.",
  example: [
    { says: "Check a folder.", run: "flotilla lint -f shop/ --recursive" },
    { says: "Also fail on warnings, for example in CI.", run: "flotilla lint -f shop/ -R --strict" },
    {
      says: "Check against your hub, with its members and CRDs.",
      run: "flotilla lint -f web.yaml --against-hub",
    },
    { says: "List the rules, with their reasons.", run: "flotilla lint --list" },
  ],
  args: [],
  flags: {
    ...manifestFlags,
    rule: { type: "string", value: "ID", repeated: true, description: "run only this rule; may be repeated" },
    ignore: { type: "string", value: "ID", repeated: true, description: "skip this rule; may be repeated" },
    strict: { type: "boolean", description: "treat warnings as errors" },
    list: { type: "boolean", description: "list the rules instead, with the reason and the fix for each" },
    "against-hub": {
      type: "boolean",
      description: "use dry runs on the hub instead of a temporary in-process hub",
    },
    namespace: {
      ...namespaceFlag.namespace,
      description:
        "for manifests without a namespace (default: with --against-hub that of the kubeconfig, else default)",
    },
    ...hubFlags,
  },
  async run({ flags, output, signal, connect, environment, readInput, openOfflineHub }) {
    const [{ chooseRules, lintSources }, { renderLint, renderRules }, { describeNames, readSources }] =
      await Promise.all([
        import("../lint/lint-input.ts"),
        import("../lint/render-lint.ts"),
        import("../interpret/read-manifests.ts"),
      ]);
    const rules = chooseRules(flags.rule, flags.ignore);
    if (flags.list) {
      output.result(
        { rules: rules.map(({ id, severity, summary, why, fix }) => ({ id, severity, summary, why, fix })) },
        () => renderRules(rules, output),
      );
      return 0;
    }
    const given = describeNames(flags);
    if (given === "") throw new UsageError("specify what to check: -f FILE, or -k DIR");
    const sources = await readSources(flags, { readInput, signal, environment });
    output.progress("looking");
    const hub: Pick<HubConnection, "client" | "namespace" | "close"> = flags["against-hub"]
      ? await connect(hubKubeconfig(flags, environment))
      : await openOfflineHub();
    try {
      const result = await lintSources(
        { sources, rules, strict: flags.strict, namespace: chosenNamespace(flags, hub) },
        { client: hub.client, isReal: flags["against-hub"] },
        signal,
      );
      output.progress("");
      if (result.files === 0) throw new UsageError(`${given} contains no objects`);
      output.result(result as unknown as Json, () => output.called(renderLint(result, output)));
      return result.errors > 0 ? FOUND_ERRORS : 0;
    } finally {
      await hub.close();
    }
  },
});
