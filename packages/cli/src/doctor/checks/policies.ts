/** Reports policies that match nothing, or whose objects are not propagated. */
import { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { PolicyStatus } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { ownProblemsOf } from "../../health/policy-problems.ts";

type Policy = DeepReadonly<PropagationPolicy & { status?: PolicyStatus }>;

export const policiesCheck = defineCheck<readonly Policy[]>({
  name: "policies",
  summary: "policies match objects, and their objects are propagated",
  reports:
    "A warning for each policy that matches no object for longer than `--stuck-after`, or whose objects another policy has claimed. A problem for what a policy's status reports beyond scheduling and applying: a binding name that is taken or invalid, a claim that the hub rejected, a policy that waits for its overrides or PriorityClass.",
  async gather({ lists }) {
    const [policies, clusterPolicies] = await Promise.all([
      lists.all(PropagationPolicy),
      lists.all(ClusterPropagationPolicy as unknown as Kind<PropagationPolicy>),
    ]);
    return [...policies, ...clusterPolicies] as readonly Policy[];
  },
  judge(policies, { nowMs, stuckAfterMs }) {
    const findings = policies.flatMap((policy): DoctorFinding[] => {
      const { kind, metadata, status } = policy;
      const about = `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
      if (
        metadata.deletionTimestamp !== undefined ||
        nowMs - Date.parse(metadata.creationTimestamp ?? "") <= stuckAfterMs
      )
        return [];
      const problems = ownProblemsOf(policy);
      if ((status?.matched ?? 0) === 0 && problems.length === 0) {
        const kinds = [...new Set(policy.spec.resourceSelectors.map((selector) => selector.kind))].join(", ");
        return [
          {
            severity: "warning",
            about,
            seen: `It has no object: no ${kinds} matches its selectors, another policy has claimed the matches, or a rule of the kind fails.`,
            fix: "Check kind, name, namespace and labels of the selectors, and which policy has claimed the object.",
            commands: [
              `kubectl get ${policy.kind.toLowerCase()} ${metadata.name}${metadata.namespace ? ` -n ${metadata.namespace}` : ""} -o yaml`,
              `flotilla why TYPE/NAME${metadata.namespace ? ` -n ${metadata.namespace}` : ""}`,
            ],
          },
        ];
      }
      return problems.map((problem) => ({
        severity: "problem",
        about,
        seen: problem.text,
        fix: problem.reason.startsWith("BindingName")
          ? "Rename one of the objects."
          : "`flotilla why` shows what it waits for.",
        commands: [
          `flotilla why ${problem.kind.toLowerCase()}/${problem.name}${problem.namespace ? ` -n ${problem.namespace}` : ""}`,
        ],
      }));
    });
    return { seen: `${counted(policies.length, "policy", "policies")}, ${findings.length} with findings`, findings };
  },
});
