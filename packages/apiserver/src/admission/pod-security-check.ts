/** The input and output of Pod Security checks, and helpers for their messages. */
import type { Container, PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

/** A pod, or a pod template. */
export interface ExaminedPod {
  readonly spec: DeepReadonly<PodSpec>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Init containers, containers and ephemeral ones, in this order. */
  readonly containers: readonly DeepReadonly<Container>[];
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Rule = (pod: ExaminedPod) => Violation | undefined;

/** One check of a level. Its rule may differ between the versions of a policy. */
export interface Check {
  readonly id: string;
  /** The rules, each with the minor Kubernetes version from which it applies, oldest first. */
  readonly rules: readonly (readonly [since: number, rule: Rule])[];
  /** The baseline check that this one replaces in every version in which this one has a rule. */
  readonly overrides?: string;
}

export function examined(spec: DeepReadonly<PodSpec>, annotations: Readonly<Record<string, string>> = {}): ExaminedPod {
  return {
    spec,
    annotations,
    containers: [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])],
  };
}

/** The names of the containers that violate a check. */
export function namesWhere(
  { containers }: ExaminedPod,
  isBad: (container: DeepReadonly<Container>) => boolean,
): string[] {
  return containers.filter(isBad).map(({ name }) => name);
}

export const quoted = (items: Iterable<string>): string => [...items].map((item) => `"${item}"`).join(", ");
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();
export const plural = (word: string, count: number, many = `${word}s`): string => (count === 1 ? word : many);
/** `container "a"`, `containers "a", "b"`. */
export const containersText = (names: readonly string[]): string =>
  `${plural("container", names.length)} ${quoted(names)}`;

/** The violators: the pod itself, some of its containers, or both. */
export function settersText(pod: boolean, names: readonly string[]): string {
  return [...(pod ? ["pod"] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(" and ");
}

/** Some rules do not apply to Windows; since 1.25 pods specify their OS. */
export const unlessWindows =
  (rule: Rule): Rule =>
  (pod) =>
    pod.spec.os?.name === "windows" ? undefined : rule(pod);
/** Root in a user namespace is unprivileged on the node, which counts since 1.35. */
export const unlessUserNamespace =
  (rule: Rule): Rule =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : rule(pod);
