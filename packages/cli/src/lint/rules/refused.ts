/**
 * Reports what the hub's admission rejects: schema violations, unknown fields, and the rules of upstream's webhooks.
 */
import { defineRule } from "../rule.ts";
import { fieldOf, withoutField } from "../field-of-message.ts";

const OF_SCRIPTS = /Lua script error|conflicting with InterpreterOperation/;

export const refused = defineRule({
  id: "refused",
  severity: "error",
  summary: "the hub rejects the manifest",
  why: "It violates the schema or a rule of its kind, or has an unknown field. `kubectl apply` would fail, or drop the field.",
  fix: "Fix the field that the message names; `kubectl explain` describes it.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      const refusal = answers.of(manifest)?.refusal;
      // Scripts that do not compile have their own rule, which knows their position in the file.
      if (refusal === undefined || (manifest.kind === "ResourceInterpreterCustomization" && OF_SCRIPTS.test(refusal)))
        continue;
      const path = fieldOf(refusal);
      yield { manifest, message: withoutField(refusal, path), path };
    }
  },
});
