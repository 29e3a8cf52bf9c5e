/** Reports NoExecute taints of members, and the policies whose objects they do not move. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";

export const taintsMoveNothing = defineRule({
  id: "taints-move-nothing",
  severity: "warning",
  summary: "a NoExecute taint moves no workload",
  why:
    "As in Karmada, a NoExecute taint of a Cluster moves only workloads whose policy has `failover.cluster`; others stay " +
    "on the member. Policies are compared with the members of a hub and what runs there, with `--against-hub`.",
  fix: "Add `failover.cluster` to the policies whose workloads are to leave, or run `flotilla drain`, which moves most others, too.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const warning of (answers.of(manifest)?.warnings ?? []).filter(isAboutInertTaint)) {
        const path = fieldOf(warning);
        yield { manifest, path, message: withoutField(warning, path) };
      }
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutInertTaint = (warning: string): boolean =>
  warning.includes(": NoExecute moves only workloads whose policy has failover.cluster") ||
  warning.includes("because it has no failover.cluster");
