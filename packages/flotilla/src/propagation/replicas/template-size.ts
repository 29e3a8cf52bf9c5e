/**
 * The size of a template for its binding: replicas with their requirements or, where the hub places multi-component
 * workloads as a whole and the kind has a rule for it, the components. Never both, as in Karmada.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Component, Replicas } from "@flotilla/kubernetes";
import type { ResourceBinding } from "@flotilla/karmada";
import type { Interpreter } from "../../interpreter/interpreter.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface Size {
  /** Undefined for a kind without replicas. */
  readonly replicas?: Replicas | undefined;
  readonly components?: readonly Component[];
}

/** `countsComponents`: the hub places such workloads as a whole. `onFailure` receives the rule that failed. */
export async function sizeOf(
  template: DeepReadonly<KubernetesObject>,
  interpreter: Pick<Interpreter, "replicas" | "components" | "levelOf">,
  countsComponents: boolean,
  onFailure: (rule: "GetReplicasFailed" | "GetComponentsFailed", error: unknown) => void = () => undefined,
): Promise<Size> {
  const hasComponents = countsComponents && interpreter.levelOf("components", template) !== undefined;
  try {
    return hasComponents
      ? { components: await interpreter.components(template) }
      : { replicas: await interpreter.replicas(template) };
  } catch (error) {
    onFailure(hasComponents ? "GetComponentsFailed" : "GetReplicasFailed", error);
    throw error;
  }
}

/** The fields of a binding that have the size of its template. */
export function sizeFields({ replicas, components }: Size, namespace: string | undefined): Partial<Binding["spec"]> {
  return components ? planComponents(components) : planReplicas(replicas, namespace);
}

/** What the pods of a template request. */
export function requestsOf(
  size: Size,
  namespace: string | undefined,
): Pick<Binding["spec"], "replicaRequirements" | "components"> {
  const { replicaRequirements, components } = sizeFields(size, namespace);
  return { replicaRequirements, components };
}

function planReplicas(
  interpreted: Replicas | undefined,
  namespace: string | undefined,
): Pick<Binding["spec"], "replicas" | "replicaRequirements"> {
  if (!interpreted) return {};
  const { replicas, requirements } = interpreted;
  if (!requirements) return { replicas };
  // Quotas apply in the pods' namespace, which is the template's namespace.
  return {
    replicas,
    replicaRequirements: { ...requirements, ...omitZero({ namespace }) } as Binding["spec"]["replicaRequirements"],
  };
}

function planComponents(components: readonly Component[]): Pick<Binding["spec"], "components"> {
  if (components.length === 0) return {};
  return {
    components: components.map(({ name, replicas, requirements }) => {
      if (!requirements) return { name, replicas };
      const { namespace: _, ...each } = requirements;
      return { name, replicas, replicaRequirements: each };
    }) as unknown as Binding["spec"]["components"],
  };
}
