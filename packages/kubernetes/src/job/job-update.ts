/**
 * Validates updates of a Job: its parallelism may change, and while it is suspended the scheduling fields and resources
 * of its pods.
 */
import type { DeepReadonly } from "@flotilla/base";
import { checkUnchanged, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { Job } from "@flotilla/apimachinery/facts/batch-v1.ts";
import type { Affinity, Container, PodSpec, PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { hasJobCondition } from "./job-conditions.ts";
import type { JobSpec } from "./job-spec.ts";

type Read<T> = DeepReadonly<T>;
type Fields = Record<string, unknown>;

export function checkJobUpdate(errors: FieldError[], job: Read<Job>, old: Read<Job>): void {
  const spec: JobSpec = job.spec ?? { template: {} };
  const before: JobSpec = old.spec ?? { template: {} };
  checkCompletions(errors, spec, before);
  errors.push(...checkUnchanged("spec.selector", spec.selector, before.selector));
  checkTemplateUpdate(errors, spec, before, old);
  errors.push(...checkUnchanged("spec.completionMode", spec.completionMode, before.completionMode));
  errors.push(
    ...checkUnchanged("spec.podFailurePolicy", spec.podFailurePolicy, before.podFailurePolicy),
    ...checkUnchanged("spec.backoffLimitPerIndex", spec.backoffLimitPerIndex, before.backoffLimitPerIndex),
    ...checkUnchanged("spec.managedBy", spec.managedBy, before.managedBy),
    ...checkUnchanged("spec.successPolicy", spec.successPolicy, before.successPolicy),
  );
}

/** The completions of an indexed Job change only together with its parallelism. */
function checkCompletions(errors: FieldError[], spec: JobSpec, old: JobSpec): void {
  if (spec.completionMode !== "Indexed")
    errors.push(...checkUnchanged("spec.completions", spec.completions, old.completions));
  else if (
    spec.completions !== undefined &&
    spec.completions !== old.completions &&
    spec.completions !== spec.parallelism
  ) {
    errors.push(
      field.invalid("spec.completions", spec.completions, "can only be modified in tandem with spec.parallelism"),
    );
  }
}

function checkTemplateUpdate(errors: FieldError[], spec: JobSpec, before: JobSpec, old: Read<Job>): void {
  const template: Read<PodTemplateSpec> = spec.template ?? {};
  const isMutable =
    before.suspend === true &&
    (old.status?.startTime === undefined || hasJobCondition(old, "Suspended")) &&
    (old.status?.active ?? 0) === 0;
  if (!isMutable) {
    errors.push(...checkUnchanged("spec.template", template, before.template));
    return;
  }
  const allowed = withResources(withScheduling(before.template?.spec ?? {}, template.spec ?? {}), template.spec ?? {});
  errors.push(...checkUnchanged("spec.template.spec", template.spec ?? {}, allowed));
}

function set(target: Fields, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** The old pod with the scheduling fields of the new one. */
function withScheduling(old: Partial<Read<PodSpec>>, spec: Partial<Read<PodSpec>>): Fields {
  const result: Fields = { ...old };
  for (const key of ["nodeSelector", "tolerations", "schedulingGates"] as const) set(result, key, spec[key]);
  const { nodeAffinity: _, ...others }: Read<Affinity> = old.affinity ?? {};
  const affinity: Fields = { ...others };
  if (spec.affinity) {
    set(affinity, "nodeAffinity", spec.affinity.nodeAffinity);
    result["affinity"] = affinity;
  } else set(result, "affinity", Object.keys(affinity).length > 0 ? affinity : undefined);
  return result;
}

function withResources(old: Fields, spec: Partial<Read<PodSpec>>): Fields {
  const result: Fields = { ...old };
  for (const list of ["containers", "initContainers"] as const) {
    const before = old[list] as readonly Read<Container>[] | undefined;
    const now = spec[list];
    if (!before || !now || before.length !== now.length) continue;
    result[list] = before.map((container, index) => {
      const changed: Fields = { ...container };
      if (container.name === now[index]?.name) set(changed, "resources", now[index]?.resources);
      return changed;
    });
  }
  return result;
}
