/**
 * How users steer the simulation: annotations on pods (or in their templates) and on nodes. docs/simulation.md lists them. The
 * names under `sim/` are those of other simulated clusters, so that their manifests work here.
 */
import type { DeepReadonly } from "../base/index.ts";
import type { KubernetesObject } from "../api/index.ts";

const PREFIX = "simulation.flotilla.dev/";

export const FAULT = `${PREFIX}fault`;
export const EXIT_CODE = `${PREFIX}exit-code`;
export const RUN = `${PREFIX}run`;
export const START_SECONDS = `${PREFIX}start-seconds`;
export const CPU_USAGE = `${PREFIX}cpu-usage`;
export const MEMORY_USAGE = `${PREFIX}memory-usage`;

const OTHER_NAMES: Readonly<Record<string, string>> = { [EXIT_CODE]: "sim/exit-code", [RUN]: "sim/run" };

/** A day: longer than anybody waits, short enough for every clock. */
const MAX_SECONDS = 86_400;

export const FAULTS = ["crash-loop", "image-pull-error", "never-ready", "lost"] as const;
export type Fault = (typeof FAULTS)[number];

type Annotated = DeepReadonly<Pick<KubernetesObject, "metadata">>;

export function annotationOf({ metadata: { annotations } }: Annotated, name: string): string | undefined {
  if (!annotations) return undefined;
  const other = OTHER_NAMES[name];
  return annotations[name] ?? (other === undefined ? undefined : annotations[other]);
}

/** What is wrong with it on purpose. A word that the simulation does not know is no fault. */
export function faultOf(object: Annotated): Fault | undefined {
  const text = annotationOf(object, FAULT);
  return text === undefined ? undefined : FAULTS.find((fault) => fault === text);
}

/** Whole seconds or fractions of them; anything else does not count. */
export function secondsOf(object: Annotated, name: string): number | undefined {
  const text = annotationOf(object, name);
  if (text === undefined || !/^\d{1,6}(\.\d{1,3})?$/.test(text)) return undefined;
  return Math.min(Number(text), MAX_SECONDS);
}

export function exitCodeOf(object: Annotated): number | undefined {
  const text = annotationOf(object, EXIT_CODE);
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}
