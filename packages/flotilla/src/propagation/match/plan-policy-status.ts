/** Computes a policy's status: its objects, their clusters, and problems. Pure. */
import { MAX_STATUS_CLUSTERS, MAX_STATUS_PROBLEMS } from "@flotilla/karmada";
import type { PolicyProblem, PolicyStatus } from "@flotilla/karmada";
import { equalJson } from "@flotilla/base";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";
import type { Policy } from "./plan-match.ts";
import type { Totals } from "./policy-tally.ts";

/** Returns the policy itself when its status is up to date. */
export function planPolicyStatus<P extends Policy>(policy: P, totals: Totals, now: string): P {
  const { matched, scheduled, applied } = totals;
  const observedGeneration = policy.metadata.generation ?? 0;
  const all = (type: string, count: number, verb: string): NextCondition =>
    matched > 0 && count === matched
      ? {
          type,
          status: "True",
          reason: `All${type}`,
          message: matched === 1 ? `Its object is ${verb}.` : `All ${matched} objects are ${verb}.`,
        }
      : {
          type,
          status: "False",
          reason: matched > 0 ? `Not${type}` : "NothingMatched",
          message: matched > 0 ? `${count} of ${matched} objects are ${verb}.` : "No object is matched.",
        };
  const next: NextCondition[] = [
    matched > 0
      ? {
          type: "Matched",
          status: "True",
          reason: "Matched",
          message:
            matched === 1 ? "1 object is claimed by this policy." : `${matched} objects are claimed by this policy.`,
        }
      : { type: "Matched", status: "False", reason: "NothingMatched", message: "No object is matched." },
    all("Scheduled", scheduled, "scheduled"),
    all("FullyApplied", applied, matched === 1 ? "on all its members" : "on all their members"),
  ];
  const conditions = next.reduce<
    PolicyStatus["conditions"] | readonly NonNullable<PolicyStatus["conditions"]>[number][]
  >(
    (list, condition) => withCondition(list, { ...condition, observedGeneration }, now),
    policy.status?.conditions as PolicyStatus["conditions"],
  );
  const problems = worst(totals.problems);
  const status: PolicyStatus = {
    observedGeneration,
    matched,
    scheduled,
    applied,
    clusters: [...totals.clusters.keys()].sort().slice(0, MAX_STATUS_CLUSTERS),
    clusterCount: totals.clusters.size,
    problems: problems.length > 0 ? problems : undefined,
    conditions: [...(conditions ?? [])],
  };
  return equalJson(status, policy.status) ? policy : { ...policy, status };
}

/** Unscheduled objects come before objects that were not applied; then by name, so that the list is stable. */
const URGENCY = ["FullyAppliedFailed"];

function worst(problems: Iterable<PolicyProblem>): PolicyProblem[] {
  const rank = ({ reason, kind, namespace = "", name }: PolicyProblem): string =>
    `${URGENCY.indexOf(reason) + 1} ${kind} ${namespace} ${name}`;
  return [...problems].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, MAX_STATUS_PROBLEMS);
}
