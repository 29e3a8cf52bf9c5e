/**
 * The pods that a workload, such as a CloneSet, names for deletion, and the members that have them, as an annotation of its binding:
 * match asks the members and writes it together with the replicas; schedule takes replicas away where named pods are,
 * and dispatch gives each member the names of its own pods. A member's OpenKruise rejects a name that it does not know.
 *
 * What was found for a name stays as long as the template has the name, so a pod that is gone is not asked for again.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject, textsOf, type DeepReadonly } from "@flotilla/base";
import { rulesOfKind } from "../../interpreter/kind-rules.ts";
import { specOf, valueAt } from "../../interpreter/release-reach.ts";
import type { LocatePods } from "../../membership/locate-pods.ts";
import { NAMED_PODS } from "../../flotilla-names.ts";
import { targetsOf } from "../bindings/target-clusters.ts";

type Template = DeepReadonly<KubernetesObject>;
type Binding = DeepReadonly<ResourceBinding>;

type NamedPod = readonly [name: string, clusters: readonly string[], replicas: number];

export interface NamedPods {
  /**
   * The members that have a pod of this name, in the order of the template; none: no member has it. And the replicas
   * that the template asked for when it first named the pod: only that change takes replicas from the pod's member.
   */
  readonly pods: readonly NamedPod[];
  /** Names that were not found while some members did not respond. */
  readonly open?: readonly string[];
  /** These members. */
  readonly unasked?: readonly string[];
}

/** More names might not fit into the annotation. The rest follows when the template no longer has the first ones. */
const MAX_NAMES = 500;

/** The pods that a template names, each once. */
export function podsToDeleteOf(template: Template): readonly string[] {
  const path = rulesOfKind(template)?.podsToDelete?.path;
  return path ? [...new Set(textsOf(valueAt(specOf(template), path)))] : [];
}

export function namedPodsOf({
  metadata,
}: {
  readonly metadata: Binding["metadata"] | BindingMetadata;
}): NamedPods | undefined {
  const text = metadata.annotations?.[NAMED_PODS];
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && Array.isArray(parsed["pods"]) && parsed["pods"].every(isEntry)
      ? (parsed as unknown as NamedPods)
      : undefined;
  } catch (error) {
    // A record that a user overwrote counts as none.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

interface BindingMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
}

const isEntry = (entry: unknown): boolean =>
  Array.isArray(entry) && entry.length === 3 && typeof entry[0] === "string" && Array.isArray(entry[1]);

/** The record for a template; undefined if it names no pods. Asks members only for names that are new. */
export async function recordNamedPods(
  template: Template,
  replicas: number,
  binding: Binding | undefined,
  locate: LocatePods,
): Promise<NamedPods | undefined> {
  const names = podsToDeleteOf(template).slice(0, MAX_NAMES);
  if (names.length === 0) return undefined;
  const known = new Map((binding && namedPodsOf(binding))?.pods.map((entry) => [entry[0], entry]));
  const open = names.filter((name) => !known.has(name));
  const targets = binding ? targetsOf(binding.spec).map(({ name }) => name) : [];
  const { found, unasked } = open.length > 0 ? await locate(template, targets) : NONE;
  for (const name of open) {
    const clusters = targets.filter((cluster) => found.get(cluster)?.has(name));
    if (clusters.length > 0 || unasked.length === 0) known.set(name, [name, clusters, replicas]);
  }
  const left = open.filter((name) => !known.has(name));
  return {
    pods: names.map((name) => known.get(name)).filter((entry) => entry !== undefined),
    open: left.length > 0 ? left : undefined,
    unasked: left.length > 0 ? unasked : undefined,
  };
}

const NONE: Awaited<ReturnType<LocatePods>> = { found: new Map(), unasked: [] };

/** The clusters of the pods that were named together with this number of replicas, one entry per pod, in order. */
export function clustersOfNamedPods(named: NamedPods | undefined, replicas: number): readonly string[] {
  return (named?.pods ?? []).flatMap(([, clusters, when]) => (when === replicas ? clusters : []));
}

export interface NamedPodsProblem {
  readonly status: "False" | "Unknown";
  readonly reason: "PodsNotFound" | "MembersNotAsked" | "TooManyNames";
  readonly message: string;
}

/** How many names a message contains. */
const MAX_LISTED = 10;

export function namedPodsProblem(template: Template, named: NamedPods | undefined): NamedPodsProblem | undefined {
  if (!named) return undefined;
  const { kind, metadata } = template;
  const later = podsToDeleteOf(template).length - MAX_NAMES;
  const absent = named.pods.flatMap(([name, clusters]) => (clusters.length === 0 ? [name] : []));
  const { open = [], unasked = [] } = named;
  const parts = [
    ...(absent.length > 0
      ? [`no member has ${listed(absent)} of ${kind} ${metadata.name}; remove the name${absent.length > 1 ? "s" : ""}`]
      : []),
    ...(open.length > 0
      ? [
          `${listed(unasked)} did not respond when searched for ${listed(open)}; a pod that is found there later is deleted then`,
        ]
      : []),
    ...(later > 0
      ? [`${later} names after the first ${MAX_NAMES} have no effect yet; remove the names of pods that are gone`]
      : []),
  ];
  if (parts.length === 0) return undefined;
  return {
    ...(absent.length > 0
      ? ({ status: "False", reason: "PodsNotFound" } as const)
      : ({ status: "Unknown", reason: open.length > 0 ? "MembersNotAsked" : "TooManyNames" } as const)),
    message: `spec.scaleStrategy.podsToDelete: ${parts.join("; ")}`,
  };
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}
