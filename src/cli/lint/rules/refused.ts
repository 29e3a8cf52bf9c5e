/** What the hub's own admission refuses: schema, unknown fields, and the rules that upstream's webhooks have. */
import { defineRule } from "../rule.ts";
import { fieldOf, withoutField } from "../field-of-message.ts";

const OF_SCRIPTS = /Lua script error|conflicting with InterpreterOperation/;

export const refused = defineRule({
  id: "refused",
  severity: "error",
  summary: "the hub refuses the manifest",
  why: "It breaks the schema or a rule of its kind, or has a field that the kind does not have. `kubectl apply` would fail, or drop the field.",
  fix: "Correct the field that the message names; `kubectl explain` describes it.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      const refusal = answers.of(manifest)?.refusal;
      // Scripts that do not compile have a rule of their own, which knows their place in the file.
      if (refusal === undefined || (manifest.kind === "ResourceInterpreterCustomization" && OF_SCRIPTS.test(refusal)))
        continue;
      const path = fieldOf(refusal);
      yield { manifest, message: withoutField(refusal, path), path };
    }
  },
});
