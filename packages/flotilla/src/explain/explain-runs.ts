/** Explains kinds that run once, such as Job: what a copy on another member runs, and what is wrong with a division. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import { clusterNameOf } from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { isScheduled } from "../health/run-to-completion.ts";
import { targetsOf } from "../propagation/bindings/target-clusters.ts";
import { runsAgain, runsOnce } from "../propagation/jobs/finished-run.ts";
import { isJob, planJob } from "../propagation/jobs/plan-job.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { RERUN_JOBS } from "../flotilla-names.ts";
import type { Problem } from "./explanation.ts";
import type { Binding } from "./planned-binding.ts";
import { specOf } from "../interpreter/release-reach.ts";

/** What a new copy of a run that has begun on other members does; undefined for other kinds. */
export function runNote(binding: Binding | undefined, manifest: Template): string | undefined {
  if (!runsOnce(manifest)) return undefined;
  if (binding && runsAgain(binding)) return `runs again: ${RERUN_JOBS} is set`;
  if (!isJob(manifest)) return "runs again, from the beginning";
  const completions = specOf(manifest)["completions"];
  if (typeof completions !== "number") return "runs again: its pods decide when the work queue is empty";
  if (completions === 0) return "nothing is left to run";
  return `runs the ${completions === 1 ? "completion" : `${completions} completions`} that no other member has finished or is given`;
}

/** What a run that is not finished does when it leaves one of its members; undefined if nothing of it moves. */
export function leaveNote({ metadata, spec }: Pick<Binding, "metadata" | "spec">): string | undefined {
  if (isScheduled(spec.resource)) return "runs in progress stop, and the next one starts elsewhere";
  if (!runsOnce(spec.resource)) return undefined;
  const isDivided = spec.placement?.replicaScheduling?.replicaSchedulingType === "Divided";
  // A copy for each member is not replaced by those that the other members have.
  if (!isDivided && targetsOf(spec).length > 1) return undefined;
  return runsAgain({ metadata }) || !isJob(spec.resource)
    ? "runs again elsewhere, from the beginning"
    : "pods that have not finished start again elsewhere";
}

/** What happens on a member that loses its copy and stays a target; undefined for other kinds. */
export function rerunNote(object: { readonly apiVersion: string; readonly kind: string }): string | undefined {
  return isJob(object) ? "its pods stop, and it is created again there for the completions that are left" : undefined;
}

export interface RunsInput {
  readonly binding: Binding | undefined;
  readonly template: Template;
  /** The Works of the binding. */
  readonly works: readonly DeepReadonly<Work>[];
  readonly now: string;
}

export function runProblems({ binding, template, works, now }: RunsInput): Problem[] {
  if (!binding || !isJob(template)) return [];
  return [...missingCompletions(binding, template, works, now), ...indexProblems(binding, template)];
}

/** A share that a member had to give up, and no other can take. Before the first copies exist, nothing is missing. */
function missingCompletions(
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  now: string,
): Problem[] {
  if (works.length === 0) return [];
  const { missing, retired } = planJob(binding, template, works, now);
  const targets = targetsOf(binding.spec).map(({ name }) => name);
  const given = new Set(works.flatMap(({ metadata }) => clusterNameOf(metadata.namespace ?? "") ?? []));
  // Dispatch is about to give it to a new member, or to create a Job again.
  if (missing === 0 || retired.size > 0 || targets.some((name) => !given.has(name))) return [];
  return [
    {
      what:
        `${missing === 1 ? "1 completion of the Job is" : `${missing} completions of the Job are`} not run ` +
        `by any member: ${targets.join(", ") || "its members"} cannot take more, because completions are ` +
        "immutable and no copy can be replaced now",
      try:
        "the hub hands them out when a member takes its copy again, or when the policy selects a member that has " +
        "none; 'flotilla status' shows what is wrong with the members",
    },
  ];
}

/** Members number the pods of an Indexed Job independently of each other. */
function indexProblems(binding: Binding, template: Template): Problem[] {
  if (specOf(template)["completionMode"] !== "Indexed") return [];
  const isDivided = binding.spec.placement?.replicaScheduling?.replicaSchedulingType === "Divided";
  const targets = targetsOf(binding.spec).length;
  if (!isDivided || targets < 2) return [];
  return [
    {
      what: `the Job is Indexed and divided over ${targets} members: each numbers its pods from 0, so low indexes run on several members and high ones on none`,
      try: "let the Job run on one cluster (spread constraint by cluster with maxGroups: 1), or do not use the completion index",
    },
  ];
}
