/** Explains kinds that run once, such as Job: what a copy on another member runs, and what is wrong with a division. Pure. */
import { isObject } from "@flotilla/base";
import { targetsOf } from "../propagation/targets.ts";
import { runsAgain, runsOnce } from "../propagation/finished-run.ts";
import { isJob } from "../propagation/plan-job.ts";
import type { Template } from "../propagation/templates.ts";
import { RERUN_JOBS } from "../flotilla-names.ts";
import type { Problem } from "./explanation.ts";
import type { Binding } from "./planned-binding.ts";

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

/** What happens on a member that loses its copy and stays a target; undefined for other kinds. */
export function rerunNote(object: { readonly apiVersion: string; readonly kind: string }): string | undefined {
  return isJob(object) ? "its pods stop, and it is created again there for the completions that are left" : undefined;
}

/** Members number the pods of an Indexed Job independently of each other. */
export function runProblems(binding: Binding | undefined, template: Template): Problem[] {
  if (!binding || !isJob(template) || specOf(template)["completionMode"] !== "Indexed") return [];
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

function specOf(object: Template): Readonly<Record<string, unknown>> {
  const { spec } = object as { spec?: unknown };
  return isObject(spec) ? spec : {};
}
