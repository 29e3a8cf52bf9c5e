/** Reports forms that the hub accepts and stores in another form. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";
import { isAboutUnknownKind } from "./unknown-kind.ts";
import { isAboutRetain } from "./interpreter-retains-release.ts";

export const shorthand = defineRule({
  id: "shorthand",
  severity: "warning",
  summary: "the hub accepts the manifest with a warning",
  why: "A part of it has no effect, refers to a cluster that does not exist yet, or is written in a form that Flotilla accepts but that Karmada or Open Cluster Management would reject or interpret differently.",
  fix: "Do what the message says: correct the name, remove the part without effect, or write the canonical form.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const message of answers.of(manifest)?.warnings ?? []) {
        if (isAboutRetain(message) || isAboutUnknownKind(message)) continue;
        const path = fieldOf(message);
        yield { manifest, message: withoutField(message, path), path };
      }
    }
  },
});
