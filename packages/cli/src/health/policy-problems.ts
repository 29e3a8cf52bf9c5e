/** Problems in the status of a policy that its bindings do not report. Pure. */
import type { PolicyStatus, PropagationPolicy } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { ANSWER_PENDING, MEMBER_UNREACHABLE, NO_ANSWER, WORKS_REJECTED } from "@flotilla/flotilla";

/** Problems that are reported for the workload itself. */
const REPORTED_ELSEWHERE = new Set([
  "NoClusterFit",
  "Unschedulable",
  "SchedulerError",
  "AppliedFailed",
  "KindNotServed",
  MEMBER_UNREACHABLE,
  NO_ANSWER,
  ANSWER_PENDING,
  "RenderFailed",
  "DivideFailed",
  "RolloutHeld",
  WORKS_REJECTED,
  "FullyAppliedFailed",
]);

type Problem = DeepReadonly<NonNullable<PolicyStatus["problems"]>[number]> & {
  /** `Deployment shop/web: BindingNameTaken: …` */
  text: string;
};

export function ownProblemsOf(policy: DeepReadonly<PropagationPolicy>): Problem[] {
  const { status } = policy as DeepReadonly<{ status?: PolicyStatus }>;
  return (status?.problems ?? [])
    .filter(({ reason }) => !REPORTED_ELSEWHERE.has(reason))
    .map((problem) => {
      const { kind, namespace, name, reason, message = "" } = problem;
      return { ...problem, text: `${kind} ${namespace ? `${namespace}/` : ""}${name}: ${reason}: ${message}` };
    });
}
