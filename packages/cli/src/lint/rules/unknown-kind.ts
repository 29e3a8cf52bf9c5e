/** Finds kinds that a hub does not serve. */
import { defineRule } from "../rule.ts";

export const unknownKind = defineRule({
  id: "unknown-kind",
  severity: "warning",
  summary: "the hub does not serve the kind",
  why: "The kind is neither built in nor defined by a CustomResourceDefinition among the files, so the manifest cannot be validated, and `kubectl apply` fails until the CRD is on the hub.",
  fix: "Correct the kind or its apiVersion. For a kind of your own, apply its CustomResourceDefinition to the hub, and pass lint the file, too; `--against-hub` uses your hub.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      const unknown = answers.of(manifest)?.unknown;
      if (!unknown) continue;
      const { kind, group, version } = manifest;
      const { similar } = unknown;
      yield {
        manifest,
        path: [similar === kind ? "apiVersion" : "kind"],
        // A near miss is a mistake; another kind may be defined on the hub.
        severity: similar === "" ? "warning" : "error",
        message: `${kind} of ${group || "Kubernetes' core"} is not served in ${version || "this version"}${similar === "" || similar === kind ? "" : ` (did you mean '${similar}'?)`}`,
      };
    }
  },
});
