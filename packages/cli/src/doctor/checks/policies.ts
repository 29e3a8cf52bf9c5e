/** Reports policies that match nothing, or whose objects are not propagated. */
import { Cluster, ClusterPropagationPolicy, ignoredSpread, PropagationPolicy } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { PolicyStatus } from "@flotilla/karmada";
import { capitalised } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { wordOf } from "../../members/types.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { equalPolicy, unjoinedClusters } from "@flotilla/flotilla";
import { ownProblemsOf } from "../../health/policy-problems.ts";

type Policy = DeepReadonly<PropagationPolicy & { status?: PolicyStatus }>;

interface PolicyFacts {
  policies: readonly Policy[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
}

export const policiesCheck = defineCheck<PolicyFacts>({
  name: "policies",
  summary: "policies match objects, and their objects are propagated",
  reports:
    "A warning for each policy that matches no object for longer than `--stuck-after`, or whose objects another policy has claimed; that names a cluster that is not a member; whose spread constraints are ignored; or that selects the same objects as another policy with the same precedence. A problem for what a policy's status reports beyond scheduling and applying: a binding name that is taken or invalid, a claim that the hub rejected, a policy that waits for its overrides or PriorityClass.",
  async gather({ lists }) {
    const [policies, clusterPolicies, clusters] = await Promise.all([
      lists.all(PropagationPolicy),
      lists.all(ClusterPropagationPolicy as unknown as Kind<PropagationPolicy>),
      lists.all(Cluster),
    ]);
    return {
      policies: [...policies, ...clusterPolicies] as readonly Policy[],
      joined: new Set(clusters.map(({ metadata }) => metadata.name)),
    };
  },
  judge({ policies, joined }, { nowMs, stuckAfterMs }) {
    const byScope = Map.groupBy(policies, scopeOf);
    const findings = policies.flatMap((policy): DoctorFinding[] => {
      const { kind, metadata, status } = policy;
      const about = `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
      if (
        metadata.deletionTimestamp !== undefined ||
        nowMs - Date.parse(metadata.creationTimestamp ?? "") <= stuckAfterMs
      )
        return [];
      const problems = ownProblemsOf(policy);
      const rival = rivalOf(policy, byScope.get(scopeOf(policy)) ?? []);
      const ineffective: DoctorFinding[] = ineffectiveParts(policy, rival, joined).map((finding) => ({
        severity: "warning",
        about,
        commands: [],
        ...finding,
      }));
      if ((status?.matched ?? 0) === 0 && problems.length === 0 && !rival) {
        const kinds = [...new Set(policy.spec.resourceSelectors.map((selector) => selector.kind))].join(", ");
        return [
          ...ineffective,
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
      return ineffective.concat(
        problems.map((problem) => ({
          severity: "problem",
          about,
          seen: problem.text,
          fix: problem.reason.startsWith("BindingName")
            ? "Rename one of the objects."
            : "`flotilla why` shows what it waits for.",
          commands: [
            `flotilla why ${wordOf(problem)}/${problem.name}${problem.namespace ? ` -n ${problem.namespace}` : ""}`,
          ],
        })),
      );
    });
    return { seen: `${counted(policies.length, "policy", "policies")}, ${findings.length} with findings`, findings };
  },
});

const scopeOf = ({ kind, metadata }: Policy): string => `${kind}/${metadata.namespace ?? ""}`;

/**
 * The policy that takes the objects of this one, with the same precedence: the one that has objects, or the one whose
 * name sorts first.
 */
function rivalOf(policy: Policy, sameScope: readonly Policy[]): Policy | undefined {
  const rival = equalPolicy(policy, sameScope);
  if (!rival) return undefined;
  const [own, theirs] = [policy, rival].map(({ status }) => (status?.matched ?? 0) > 0);
  const loses = own === theirs ? policy.metadata.name > rival.metadata.name : !own;
  return loses ? rival : undefined;
}

/** Parts of a policy that have no effect. */
function ineffectiveParts(
  policy: Policy,
  rival: Policy | undefined,
  joined: ReadonlySet<string>,
): Pick<DoctorFinding, "seen" | "fix">[] {
  const { placement } = policy.spec;
  const unjoined = unjoinedClusters(policy.spec, (name) => joined.has(name));
  const ignored = placement && ignoredSpread(placement);
  return [
    ...(unjoined.length > 0
      ? [
          {
            seen: `It names ${unjoined.join(", ")}, which ${unjoined.length === 1 ? "is not a member" : "are not members"}.`,
            fix: "Correct or remove the name, or join the cluster.",
          },
        ]
      : []),
    ...(ignored === undefined
      ? []
      : [{ seen: `Its ${ignored.split("; ")[0] ?? ""}.`, fix: `${capitalised(ignored.split("; ")[1] ?? "")}.` }]),
    ...(rival
      ? [
          {
            seen: `${rival.metadata.name} selects the same objects with the same priority, so ${(policy.status?.matched ?? 0) === 0 ? "this policy" : "one of both"} has no effect on them.`,
            fix: "Set spec.priority of the policy that is to take effect, or make the selectors disjoint.",
          },
        ]
      : []),
  ];
}
