/**
 * A Job's podFailurePolicy: the first rule that matches a failed pod decides whether the failure counts, and whether it
 * fails the Job.
 */
import type { ContainerStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Job } from "./job-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyPod } from "../pod/pod-state.ts";

type Policy = NonNullable<NonNullable<DeepReadonly<Job>["spec"]>["podFailurePolicy"]>;
type Rule = Policy["rules"][number];

export interface Verdict {
  /** Counts towards the limits. */
  counts: boolean;
  failsIndex: boolean;
  /** Why this pod fails the Job. */
  failsJob?: string;
}

const COUNTS: Verdict = { counts: true, failsIndex: false };

export function judgeFailure(policy: Policy | undefined, pod: ReadonlyPod): Verdict {
  for (const [place, rule] of (policy?.rules ?? []).entries()) {
    const why = matches(rule, pod);
    if (why === undefined) continue;
    switch (rule.action) {
      case "Ignore":
        return { counts: false, failsIndex: false };
      case "FailIndex":
        return { counts: true, failsIndex: true };
      case "FailJob":
        return { counts: true, failsIndex: false, failsJob: `${why} matching FailJob rule at index ${place}` };
      case "Count":
        return COUNTS;
    }
  }
  return COUNTS;
}

/** A description of the match. */
function matches({ onExitCodes, onPodConditions }: Rule, { metadata, status }: ReadonlyPod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const fits = ({ name, state }: DeepReadonly<ContainerStatus>): boolean => {
      const code = state?.terminated?.exitCode ?? 0;
      if (code === 0 || (onExitCodes.containerName !== undefined && onExitCodes.containerName !== name)) return false;
      return onExitCodes.values.includes(code) === (onExitCodes.operator === "In");
    };
    const container = status?.containerStatuses?.find(fits) ?? status?.initContainerStatuses?.find(fits);
    return (
      container &&
      `Container ${container.name} for pod ${pod} failed with exit code ${container.state?.terminated?.exitCode}`
    );
  }
  const condition = status?.conditions?.find(({ type, status: value }) =>
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? "True") === value),
  );
  return condition && `Pod ${pod} has condition ${condition.type}`;
}
