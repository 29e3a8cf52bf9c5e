/** Reports policies that match nothing, or whose objects are not propagated. */
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ignoredSpread,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { PolicyStatus } from "@flotilla/karmada";
import { capitalised } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { wordOf } from "../../members/types.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { equalPolicy, unjoinedClusters, unservedSelectors } from "@flotilla/flotilla";
import type { ServedKinds } from "@flotilla/flotilla";
import { typesOfHub } from "../../explain/resolve-type.ts";
import { misdirectingPolicies } from "./bindings.ts";
import { ownProblemsOf } from "../../health/policy-problems.ts";

type Policy = DeepReadonly<PropagationPolicy & { status?: PolicyStatus }>;

interface PolicyFacts {
  policies: readonly Policy[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
  /** The kinds that the hub serves; unset if they could not be read. */
  served?: ServedKinds;
  /** Bindings, if the check of bindings runs too: what it reports is not reported again. */
  bindings?: readonly DeepReadonly<ResourceBinding>[];
}

export const policiesCheck = defineCheck<PolicyFacts>({
  name: "policies",
  summary: "policies match objects, and their objects are propagated",
  reports:
    "A warning for each policy that matches no object for longer than `--stuck-after`, or whose objects another policy has claimed; that selects a kind that the hub does not serve; that names a cluster that is not a member; whose spread constraints are ignored; or that selects the same objects as another policy with the same precedence. A problem for what a policy's status reports beyond scheduling and applying: a binding name that is taken or invalid, a claim that the hub rejected, a policy that waits for its overrides or PriorityClass.",
  async gather({ lists, client, signal, checks }) {
    const [policies, clusterPolicies, clusters, types, ...bindings] = await Promise.all([
      lists.all(PropagationPolicy),
      lists.all(ClusterPropagationPolicy as unknown as Kind<PropagationPolicy>),
      lists.all(Cluster),
      typesOfHub(client, signal),
      ...(checks.has("bindings")
        ? [lists.all(ResourceBinding), lists.all(ClusterResourceBinding as unknown as Kind<ResourceBinding>)]
        : []),
    ]);
    return {
      policies: [...policies, ...clusterPolicies] as readonly Policy[],
      joined: new Set(clusters.map(({ metadata }) => metadata.name)),
      served: {
        versions: (group, kind) =>
          types.filter((type) => type.group === group && type.kind === kind).map(({ version }) => version),
        kinds: () => types,
      },
      bindings: bindings.flat(),
    };
  },
  judge({ policies, joined, served, bindings = [] }, moment) {
    const { nowMs, stuckAfterMs } = moment;
    const misdirecting = new Set(misdirectingPolicies({ bindings, joined }, moment).map(titleOf));
    const byScope = Map.groupBy(policies, scopeOf);
    const findings = policies.flatMap((policy): DoctorFinding[] => {
      const { kind, metadata, status } = policy;
      const about = titleOf({ kind, ...metadata });
      const where = metadata.namespace ? ` -n ${metadata.namespace}` : "";
      const editCommand = `kubectl edit ${kind.toLowerCase()} ${metadata.name}${where}`;
      if (metadata.deletionTimestamp !== undefined) return [];
      const problems = ownProblemsOf(policy);
      const rival = rivalOf(policy, byScope.get(scopeOf(policy)) ?? []);
      const unserved = served ? unservedSelectors(served, policy.spec) : [];
      const isMember = (name: string): boolean => joined.has(name) || misdirecting.has(about);
      const ineffective: DoctorFinding[] = [
        ...unserved.map(({ text }) => ({
          seen: `${capitalised(text)}, so the selector matches nothing.`,
          fix: "Correct apiVersion and kind of the selector, or apply the CustomResourceDefinition to the hub.",
        })),
        ...ineffectiveParts(policy, rival, isMember),
      ].map((finding) => ({ severity: "warning", about, commands: [editCommand], ...finding }));
      // Objects and overrides may still be on their way.
      if (nowMs - Date.parse(metadata.creationTimestamp ?? "") <= stuckAfterMs) return ineffective;
      const hasServed = unserved.length < policy.spec.resourceSelectors.length;
      if ((status?.matched ?? 0) === 0 && problems.length === 0 && !rival && hasServed) {
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
    const affected = new Set(findings.map(({ about }) => about)).size;
    return { seen: `${counted(policies.length, "policy", "policies")}, ${affected} with findings`, findings };
  },
});

const titleOf = ({
  kind,
  namespace,
  name,
}: {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}): string => `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

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
  isMember: (name: string) => boolean,
): Pick<DoctorFinding, "seen" | "fix">[] {
  const { placement } = policy.spec;
  const unjoined = unjoinedClusters(policy.spec, isMember);
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
