/**
 * The size of a template for its binding: replicas with their requirements or, where the hub places multi-component
 * workloads as a whole and the kind has a rule for it, the components. Never both, as in Karmada.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Component, Replicas } from "@flotilla/kubernetes";
import type { Interpreter } from "../../interpreter/interpreter.ts";

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
