/** Finds kinds that a hub does not serve, of manifests and in the selectors of policies. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";

export const unknownKind = defineRule({
  id: "unknown-kind",
  severity: "warning",
  summary: "the hub does not serve the kind",
  why:
    "The kind is neither built in nor defined by a CustomResourceDefinition among the files, so the manifest " +
    "cannot be validated, and `kubectl apply` fails until the CRD is on the hub. A policy that selects such " +
    "a kind selects nothing.",
  fix:
    "Correct the kind or its apiVersion. For a kind of your own, apply its CustomResourceDefinition to the hub, " +
    "and pass lint the file, too; `--against-hub` uses your hub.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      const { unknown, warnings = [] } = answers.of(manifest) ?? {};
      for (const warning of warnings.filter(isAboutUnknownKind)) {
        const path = fieldOf(warning);
        yield { manifest, path, severity: severityOf(warning), message: withoutField(warning, path) };
      }
      if (!unknown) continue;
      const { kind, group, version } = manifest;
      const { similar } = unknown;
      yield {
        manifest,
        path: [similar === kind ? "apiVersion" : "kind"],
        severity: similar === "" ? "warning" : "error",
        message:
          `${kind} of ${group || "Kubernetes' core"} is not served in ${version || "this version"}` +
          (similar === "" || similar === kind ? "" : ` (did you mean '${similar}'?)`),
      };
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutUnknownKind = (warning: string): boolean => warning.includes(": the hub does not serve ");

/** A near miss is a mistake; another kind may be defined on the hub. */
const severityOf = (warning: string): "warning" | "error" => (warning.includes("(did you mean") ? "error" : "warning");
