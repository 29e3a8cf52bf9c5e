/** Forms that the hub accepts and stores in another one. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";

export const shorthand = defineRule({
  id: "shorthand",
  severity: "warning",
  summary: "the hub accepts the manifest with a hint",
  why: "It is written in a form that Flotilla understands and Karmada or Open Cluster Management would refuse or read otherwise, or it names something that is not there yet.",
  fix: "Write the canonical form that the message names.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const message of answers.of(manifest)?.warnings ?? []) {
        const path = fieldOf(message);
        yield { manifest, message: withoutField(message, path), path };
      }
    }
  },
});
