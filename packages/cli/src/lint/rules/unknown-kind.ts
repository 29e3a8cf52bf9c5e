/** Finds kinds that a hub does not serve. */
import { defineRule } from "../rule.ts";

export const unknownKind = defineRule({
  id: "unknown-kind",
  severity: "warning",
  summary: "the hub does not serve the kind",
  why: "The kind is neither built in nor defined by a CustomResourceDefinition among the files, so the manifest cannot be validated, and `kubectl apply` fails until the CRD is on the hub.",
  fix: "Apply its CustomResourceDefinition to the hub, and pass lint the file, too; `--against-hub` uses your hub.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      if (answers.of(manifest)?.isUnknown)
        yield {
          manifest,
          path: ["kind"],
          message: `${manifest.kind} of ${manifest.group || "Kubernetes' core"} is not served in ${manifest.version || "this version"}`,
        };
    }
  },
});
