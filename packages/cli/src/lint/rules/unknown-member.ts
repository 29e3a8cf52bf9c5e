/** Reports cluster names in policies and overrides that no member has. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";

export const unknownMember = defineRule({
  id: "unknown-member",
  severity: "warning",
  summary: "a policy names a cluster that is not a member",
  why:
    "The name has no effect until a cluster of that name joins. A policy that names no member schedules nothing. " +
    "Without a hub that has members, names are not checked.",
  fix: "Correct or remove the name, or join the cluster.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const warning of (answers.of(manifest)?.warnings ?? []).filter(isAboutUnknownMember)) {
        const path = fieldOf(warning);
        yield { manifest, path, message: withoutField(warning, path) };
      }
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutUnknownMember = (warning: string): boolean => warning.includes(": no joined cluster is named ");
