/** Reports policies that match nothing, or whose objects are not propagated. */
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import type { ServedKinds } from "@flotilla/flotilla";
import { typesOfHub } from "../../members/types-of-hub.ts";
import { misdirectingPolicies } from "./bindings.ts";
import { findPolicyParts, servedKindsOf } from "../../health/ineffective-parts.ts";
import type { Policy } from "../../health/ineffective-parts.ts";
import { createPlacementUses } from "../../health/placement-use.ts";
import { readTiedObjects } from "../../health/tied-objects.ts";
import type { TiedObjects } from "../../health/tied-objects.ts";
import { ownProblemsOf } from "../../health/policy-problems.ts";
import { referenceTitle } from "@flotilla/apimachinery";
import { counted } from "../../text-layout.ts";

interface PolicyFacts {
  policies: readonly Policy[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
  /** The members with the kinds that they serve. */
  clusters?: readonly DeepReadonly<Cluster>[];
  /** The kinds that the hub serves; unset if they could not be read. */
  served?: ServedKinds;
  /** Objects that policies select by different labels; unset if they were not looked up. */
  tied?: TiedObjects;
  /** Bindings, if the check of bindings runs too: what it reports is not reported again. */
  bindings?: readonly DeepReadonly<ResourceBinding>[];
  /** All bindings, which show what of a placement is in use. */
  placed?: readonly DeepReadonly<ResourceBinding>[];
}

export const policiesCheck = defineCheck<PolicyFacts>({
  name: "policies",
  summary: "policies match objects, and their objects are propagated",
  reports:
    "A warning for each policy that matches no object for longer than `--stuck-after`, or whose objects " +
    "another policy has claimed; that selects a kind that the hub does not serve; that names a cluster " +
    "that is not a member; that selects members that do not serve the kind; whose spread constraints are " +
    "ignored; or that selects the same objects as another policy with the same precedence. A problem for " +
    "what a policy's status reports beyond scheduling and applying: a binding name that is taken or " +
    "invalid, a claim that the hub rejected, a policy that waits for its overrides or PriorityClass.",
  async gather({ lists, client, signal, checks }) {
    const [policies, clusterPolicies, clusters, types, ...bindings] = await Promise.all([
      lists.all(PropagationPolicy),
      lists.all(ClusterPropagationPolicy as unknown as Kind<PropagationPolicy>),
      lists.all(Cluster),
      typesOfHub(client, signal),
      lists.all(ResourceBinding),
      lists.all(ClusterResourceBinding as unknown as Kind<ResourceBinding>),
    ]);
    const placed = bindings.flat();
    const all = [...policies, ...clusterPolicies] as readonly Policy[];
    return {
      policies: all,
      tied: await readTiedObjects(all, types, client, signal),
      joined: new Set(clusters.map(({ metadata }) => metadata.name)),
      clusters,
      served: servedKindsOf(types),
      bindings: checks.has("bindings") ? placed : [],
      placed,
    };
  },
  judge({ policies, joined, clusters = [], served, tied, bindings = [], placed = [] }, moment) {
    const { nowMs, stuckAfterMs } = moment;
    const misdirecting = new Set(misdirectingPolicies({ bindings, joined }, moment).map(referenceTitle));
    const uses = createPlacementUses();
    for (const binding of placed) uses.see(binding);
    const parts = findPolicyParts({ policies, joined, clusters, uses, served, findTied: tied?.find, misdirecting });
    const findings = parts.flatMap((part): DoctorFinding[] => {
      const { policy, title: about, competitor, selectsServed } = part;
      const { kind, metadata, status } = policy;
      const where = metadata.namespace ? ` -n ${metadata.namespace}` : "";
      const editCommand = `kubectl edit ${kind.toLowerCase()} ${metadata.name}${where}`;
      const problems = ownProblemsOf(policy);
      const ineffective = part.ineffective.map((finding): DoctorFinding => ({
        severity: "warning",
        about,
        commands: [editCommand],
        ...finding,
      }));
      // Objects and overrides may not have arrived yet.
      if (nowMs - Date.parse(metadata.creationTimestamp ?? "") <= stuckAfterMs) return ineffective;
      if ((status?.matched ?? 0) === 0 && problems.length === 0 && !competitor && selectsServed) {
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
    return {
      seen: `${counted(policies.length, "policy", "policies")}, ${affected} with findings`,
      findings,
      unseen: tied?.unseen ?? [],
    };
  },
});
