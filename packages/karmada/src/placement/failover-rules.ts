/**
 * Defaults and validation of failover: when an application or a cluster counts as failed, and how its workloads are
 * moved.
 */
import type { DeepReadonly } from "@flotilla/base";
import { change, checkText, field, labelKeyProblems } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  ApplicationFailoverBehavior,
  FailoverBehavior,
  StatePreservation,
} from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";

type Read<T> = DeepReadonly<T>;

/** How long the old copy stays while the new one is not healthy, unless the policy sets another value. */
const GRACE_PERIOD_SECONDS = 600;

export function completeFailover(failover: Read<FailoverBehavior>): Read<FailoverBehavior> {
  return change(failover, "application", completeApplication);
}

/** The schema defaults an absent mode to a graceful one. */
function completeApplication(behavior: Read<ApplicationFailoverBehavior>): Read<ApplicationFailoverBehavior> {
  return isGraceful(behavior) && behavior.gracePeriodSeconds === undefined
    ? { ...behavior, gracePeriodSeconds: GRACE_PERIOD_SECONDS }
    : behavior;
}

/** `Graciously` is Karmada's name for it before 1.15. */
function isGraceful({ purgeMode = "Gracefully" }: Read<ApplicationFailoverBehavior>): boolean {
  return purgeMode === "Gracefully" || purgeMode === "Graciously";
}

export function checkFailover(at: string, { application, cluster }: Read<FailoverBehavior>): FieldError[] {
  return [
    ...(application ? checkApplication(`${at}.application`, application) : []),
    ...checkStatePreservation(`${at}.cluster.statePreservation`, cluster?.statePreservation),
  ];
}

function checkApplication(at: string, behavior: Read<ApplicationFailoverBehavior>): FieldError[] {
  const { decisionConditions, gracePeriodSeconds, statePreservation } = behavior;
  const { tolerationSeconds = 0 } = decisionConditions;
  const errors: FieldError[] = [];
  if (tolerationSeconds < 0)
    errors.push(
      field.invalid(
        `${at}.decisionConditions.tolerationSeconds`,
        tolerationSeconds,
        "must be greater than or equal to 0",
      ),
    );
  if (gracePeriodSeconds !== undefined) {
    const path = `${at}.gracePeriodSeconds`;
    if (!isGraceful(behavior))
      errors.push(field.invalid(path, gracePeriodSeconds, "only takes effect when purgeMode is gracefully"));
    if (gracePeriodSeconds <= 0) errors.push(field.invalid(path, gracePeriodSeconds, "must be greater than 0"));
  }
  return [...errors, ...checkStatePreservation(`${at}.statePreservation`, statePreservation)];
}

function checkStatePreservation(at: string, preservation: Read<StatePreservation> | undefined): FieldError[] {
  return (preservation?.rules ?? []).flatMap(({ aliasLabelName }, index) =>
    checkText(`${at}.rules[${index}].aliasLabelName`, aliasLabelName, labelKeyProblems),
  );
}

/** Purge mode names that Karmada 1.19 no longer accepts. */
const CANONICAL_MODES: ReadonlyMap<string, string> = new Map([
  ["Immediately", "Directly"],
  ["Graciously", "Gracefully"],
]);

export function failoverWarnings(at: string, { application }: Read<FailoverBehavior>): string[] {
  const mode = application?.purgeMode ?? "";
  const canonical = CANONICAL_MODES.get(mode);
  return canonical === undefined
    ? []
    : [`${at}.application.purgeMode: ${mode} is an old name; the canonical form is ${canonical}`];
}
