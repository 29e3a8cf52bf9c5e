/** Kinds that no hub serves by itself. */
import { defineRule } from "../rule.ts";

export const unknownKind = defineRule({
  id: "unknown-kind",
  severity: "warning",
  summary: "the hub does not serve the kind",
  why: "The kind is neither built in nor defined by a CustomResourceDefinition among the files, so nothing can be said about the manifest, and `kubectl apply` fails until the definition is on the hub.",
  fix: "Apply its CustomResourceDefinition to the hub, and give lint the file, too; `--against-hub` asks your hub.",
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
