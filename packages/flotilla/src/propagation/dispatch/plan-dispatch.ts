/**
 * Decides the next Works of a binding: those of its targets, those that stay for a while, and those whose copy cannot
 * be made and that therefore stay unchanged. Writes nothing; `divide` may run user-defined rules.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { failedRollbacks, heldRollout } from "@flotilla/openkruise";
import { InterpretError } from "@flotilla/kubernetes";
import type { FailedRollback, HeldRollout } from "@flotilla/openkruise";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { RetainedField } from "../../interpreter/retained-fields.ts";
import { handingOver, keptWorks, planDivision, planWorks } from "./plan-works.ts";
import type { PlanWorks, WorksPlan } from "./plan-works.ts";
import { executionNamespace } from "@flotilla/karmada";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

export interface DispatchInput extends Pick<PlanWorks, "render">, Pick<Interpreter, "divide" | "retainedFields"> {
  /** The current Works of the binding. */
  works: readonly DeepReadonly<Work>[];
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
  /** The fields of a release that a user's rule leaves to the members. */
  retained?: readonly RetainedField[];
  /** A Work must be deleted before another is created. */
  isHandingOver?: true;
}

export async function planDispatch(binding: Binding, template: Template, input: DispatchInput): Promise<DispatchPlan> {
  const { works: current } = input;
  const staying = handingOver(binding, current);
  if (staying) return { desired: staying, failures: [], isHandingOver: true };
  const { works, failures, ...found } = await planCopies(binding, template, input);
  const failed = new Set(failures.map(({ cluster }) => executionNamespace(cluster)));
  return {
    desired: [
      ...works,
      ...keptWorks(binding, current, works),
      ...current.filter(({ metadata }) => failed.has(metadata.namespace ?? "")),
    ],
    failures,
    ...found,
  };
}

/**
 * The replicas of a dependency were never counted, so there is nothing to divide; and a workload with components is
 * placed as a whole.
 */
export function isUndivided({ spec }: Binding): boolean {
  return (spec.placement === undefined && Boolean(spec.requiredBy?.length)) || Boolean(spec.components?.length);
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
): Promise<WorksPlan & Omit<DispatchPlan, "desired" | "isHandingOver">> {
  const { works, divide, render } = input;
  const { retained, memberDecides } = await fieldsOfMembers(template, input);
  const { bare, shares } = planDivision(binding, template, works, memberDecides);
  if (isUndivided(binding)) {
    return planWorks(binding, template, {
      copies: new Map(shares.filter(({ leaving }) => !leaving).map(({ cluster }) => [cluster, bare])),
      render,
      works,
    });
  }
  try {
    const copies = await divide(bare, shares);
    return {
      ...planWorks(binding, template, { copies, render, works }),
      heldRollout: heldRollout(copies, shares),
      failedRollbacks: failedRollbacks(copies, shares),
      retained,
    };
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    return { works: [], failures: shares.map(({ cluster }) => ({ cluster, error })), indivisible: error };
  }
}
