/**
 * Annotations that control the simulation: on pods (or in their templates), on nodes, and on the hub's clusters.
 * docs/simulation.md lists them. The names under `sim/` are those of other simulators, so that their manifests work
 * here.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";

export const PREFIX = "simulation.flotilla.dev/";

export const FAULT = `${PREFIX}fault`;
export const EXIT_CODE = `${PREFIX}exit-code`;
export const RUN = `${PREFIX}run`;
export const START_SECONDS = `${PREFIX}start-seconds`;
export const CPU_USAGE = `${PREFIX}cpu-usage`;
export const MEMORY_USAGE = `${PREFIX}memory-usage`;
export const FAILING_PROBES = `${PREFIX}failing-probes`;
/** On a Service. */
export const CPU_LOAD = `${PREFIX}cpu-load`;

/** All of pods, nodes and clusters, in the order of the help text. */
export const NAMES: readonly string[] = [FAULT, EXIT_CODE, RUN, START_SECONDS, CPU_USAGE, MEMORY_USAGE, FAILING_PROBES];

const OTHER_NAMES: Readonly<Record<string, string>> = { [EXIT_CODE]: "sim/exit-code", [RUN]: "sim/run" };

/** One day: longer than any test waits, and short enough for every timer. */
export const MAX_SECONDS = 86_400;

/** The faults that each kind supports. */
export const FAULTS = {
  Pod: ["crash-loop", "image-pull-error", "never-ready"],
  Node: ["lost"],
  Cluster: ["unreachable"],
} as const;
export type AnnotatedKind = keyof typeof FAULTS;
export type Fault = (typeof FAULTS)[AnnotatedKind][number];
const ALL_FAULTS: readonly Fault[] = Object.values(FAULTS).flat();

type Annotated = DeepReadonly<Pick<KubernetesObject, "metadata">>;

export function annotationOf({ metadata: { annotations } }: Annotated, name: string): string | undefined {
  if (!annotations) return undefined;
  const other = OTHER_NAMES[name];
  return annotations[name] ?? (other === undefined ? undefined : annotations[other]);
}

/** Flotilla's name for an annotation that other simulators name differently; any other name is returned unchanged. */
export function ownNameOf(name: string): string {
  return name === OTHER_NAMES[RUN] ? RUN : name === OTHER_NAMES[EXIT_CODE] ? EXIT_CODE : name;
}

/** The injected fault. An unknown value is not a fault. */
export function faultOf(object: Annotated): Fault | undefined {
  const text = annotationOf(object, FAULT);
  return text === undefined ? undefined : ALL_FAULTS.find((fault) => fault === text);
}

/** Whole or fractional seconds. */
export const isSeconds = (text: string): boolean => /^\d{1,6}(\.\d{1,3})?$/.test(text) && Number(text) <= MAX_SECONDS;

/** Exit codes that a process can have. */
export const isExitCode = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= 255;

/** Ignores values that are not seconds; `annotation-problems.ts` reports them. */
export function secondsOf(object: Annotated, name: string): number | undefined {
  const text = annotationOf(object, name);
  return text !== undefined && isSeconds(text) ? Number(text) : undefined;
}

export function exitCodeOf(object: Annotated): number | undefined {
  const text = annotationOf(object, EXIT_CODE);
  return text !== undefined && isExitCode(text) ? Number(text) : undefined;
}
