/**
 * Decides the next Works of a binding: those of its targets, those that stay for a while, and those whose copy cannot
 * be made and that therefore stay unchanged. Writes nothing; `divide` may run user-defined rules.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { failedRollbacks, heldRollout } from "@flotilla/openkruise";
import { InterpretError } from "@flotilla/kubernetes";
import type { UnreturnedPods } from "@flotilla/kubernetes";
import type { FailedRollback, HeldRollout } from "@flotilla/openkruise";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { isDividedByReports } from "../../interpreter/concerns.ts";
import { rulesOfKind } from "../../interpreter/kind-rules.ts";
import type { RetainedField } from "../../interpreter/retained-fields.ts";
import { withOwnPods } from "../pods-to-delete/member-pods.ts";
import { namedPodsOf } from "../pods-to-delete/named-pods.ts";
import { isJob, planJob } from "../jobs/plan-job.ts";
import type { JobPlan } from "../jobs/plan-job.ts";
import { releaseCopies } from "./release-copies.ts";
import type { TemplateRelease } from "./release-copies.ts";
import { handingOver, keptWorks, planDivision, planWorks } from "./plan-works.ts";
import type { PlanWorks, WorksPlan } from "./plan-works.ts";
import { executionNamespace } from "@flotilla/karmada";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

export interface DispatchInput extends Pick<PlanWorks, "render">, Pick<Interpreter, "divide" | "retainedFields"> {
  /** The current Works of the binding. */
  works: readonly DeepReadonly<Work>[];
  /** The current time, for the record of a Job that moves. */
  now: string;
  /** The bindings of the workloads that the template concerns; unset: none. */
  concerned?: readonly Binding[] | undefined;
  /** The release that says which revision each member gets; unset: all get the template. */
  release?: TemplateRelease | undefined;
}

export interface DispatchPlan {
  desired: readonly DeepReadonly<Work>[];
  failures: WorksPlan["failures"];
  /** The template cannot be divided at all. */
  indivisible?: InterpretError;
  /** Pods of a rollout that wait for members without copies. */
  heldRollout?: HeldRollout;
  /** Members that do not do what the previous template with its partition asks for; they keep their copies. */
  failedRollbacks?: readonly FailedRollback[];
  /** Pods that keep the release although the partition was raised. */
  unreturned?: readonly UnreturnedPods[];
  /** The fields of a release that a user's rule leaves to the members. */
  retained?: readonly RetainedField[];
  /** A Work must be deleted before another is created. */
  isHandingOver?: true;
  /** The record of a Job that moves; written before the Works, which are planned for it. */
  jobRecord?: string;
}

export async function planDispatch(binding: Binding, template: Template, input: DispatchInput): Promise<DispatchPlan> {
  const { works: current } = input;
  const job = jobPlanOf(binding, template, current, input.now);
  const jobRecord = job?.recordText;
  const staying = handingOver(binding, current);
  if (staying) return { desired: staying, failures: [], isHandingOver: true, jobRecord };
  const { works, failures, ...found } = await planCopies(binding, template, input, job);
  const failed = new Set(failures.map(({ cluster }) => executionNamespace(cluster)));
  const desired = [
    ...works,
    ...keptWorks(binding, current, works),
    ...current.filter(({ metadata }) => failed.has(metadata.namespace ?? "")),
  ];
  return {
    desired: job ? withoutRetired(desired, job) : desired,
    failures,
    ...found,
    jobRecord,
  };
}

/** Undefined for other kinds, and for a Job that is only a dependency. */
export function jobPlanOf(
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  now: string,
): JobPlan | undefined {
  return isJob(template) && !isUndivided(binding) ? planJob(binding, template, works, now) : undefined;
}

/** What a member that a Job leaves would still do is done elsewhere, so its copy does not wait for the replacement. */
function withoutRetired(works: readonly DeepReadonly<Work>[], { retired }: JobPlan): readonly DeepReadonly<Work>[] {
  const namespaces = new Set(Array.from(retired, ({ metadata }) => metadata.namespace));
  return works.filter(({ metadata }) => !namespaces.has(metadata.namespace));
}

/**
 * The replicas of a dependency were never counted, so there is nothing to divide, except for kinds that have none; and a
 * workload with components is placed as a whole.
 */
export function isUndivided({ spec }: Binding): boolean {
  const isUncounted = spec.placement === undefined && Boolean(spec.requiredBy?.length);
  return (isUncounted && !isDividedByReports(spec.resource)) || Boolean(spec.components?.length);
}

/** A rule that fails here fails for every copy too, and the Works report it; until then no member is relied on. */
export async function fieldsOfMembers(
  template: Template,
  { retainedFields }: Pick<DispatchInput, "retainedFields">,
): Promise<{ retained: readonly RetainedField[]; memberDecides: boolean }> {
  try {
    const retained = await retainedFields(template);
    return { retained, memberDecides: retained.some(({ field }) => field !== "replicas") };
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    return { retained: [], memberDecides: true };
  }
}

async function planCopies(
  binding: Binding,
  template: Template,
  input: DispatchInput,
  job: JobPlan | undefined,
): Promise<WorksPlan & Omit<DispatchPlan, "desired" | "isHandingOver" | "jobRecord">> {
  const { works, divide, render, release } = input;
  const { retained, memberDecides } = await fieldsOfMembers(template, input);
  const { bare, shares } = planDivision(binding, template, { works, memberDecides, concerned: input.concerned });
  const named = namedPodsOf(binding);
  if (isUndivided(binding) && !release) {
    const whole = new Map(shares.filter(({ leaving }) => !leaving).map(({ cluster }) => [cluster, bare]));
    return planWorks(binding, template, {
      copies: withOwnPods(whole, named),
      render,
      works,
    });
  }
  try {
    if (release) {
      const copies = withOwnPods(await releaseCopies(bare, shares, release, divide), named);
      return { ...planWorks(binding, template, { copies, render, works }), retained };
    }
    const copies = withOwnPods(withCompletions(await divide(bare, shares), job), named);
    return {
      ...planWorks(binding, template, { copies, render, works }),
      heldRollout: heldRollout(copies, shares),
      failedRollbacks: failedRollbacks(copies, shares),
      unreturned: rulesOfKind(template)?.unreturned?.(copies, shares),
      retained,
    };
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    return { works: [], failures: shares.map(({ cluster }) => ({ cluster, error })), indivisible: error };
  }
}

/** Completions are not replicas, so no rule of the kind, nor one of a user, divides them. */
export function withCompletions(copies: ReadonlyMap<string, Template>, job: JobPlan | undefined): typeof copies {
  if (!job || job.completions.size === 0) return copies;
  return new Map(
    Array.from(copies, ([cluster, copy]) => {
      const completions = job.completions.get(cluster);
      const { spec } = copy as { spec?: unknown };
      return [
        cluster,
        completions === undefined || !isObject(spec) || spec["completions"] === completions
          ? copy
          : ({ ...copy, spec: { ...spec, completions } } as Template),
      ];
    }),
  );
}
