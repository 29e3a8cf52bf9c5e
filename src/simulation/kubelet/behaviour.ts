/** What the containers of a pod do once they run: for ever, or until they end, as owner and annotations say. Pure. */
import type { Pod } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { RUN, annotationOf, exitCodeOf, faultOf, secondsOf } from "../annotations.ts";
import type { Fault } from "../annotations.ts";

export interface Behaviour {
  readonly fault: Fault | undefined;
  /** How long a container runs before it ends by itself; unset for ever. */
  readonly runMs: number | undefined;
  /** What it ends with. */
  readonly exitCode: number;
}

/** Owners whose pods have work to do that ends; nothing is computed here, so it is done at once. */
const ENDING = new Set(["Job", "BroadcastJob", "Workflow"]);

const FOREVER: Behaviour = { fault: undefined, runMs: undefined, exitCode: 0 };

export function behaviourOf(pod: DeepReadonly<Pod>): Behaviour {
  const { annotations, ownerReferences } = pod.metadata;
  const ends = ownerReferences?.some(({ kind }) => ENDING.has(kind)) ?? false;
  if (!annotations) return ends ? { ...FOREVER, runMs: 0 } : FOREVER;
  const fault = faultOf(pod);
  if (fault === "crash-loop") return { fault, runMs: 0, exitCode: exitCodeOf(pod) || 1 };
  const exitCode = exitCodeOf(pod);
  const seconds = secondsOf(pod, RUN);
  const isEndless = annotationOf(pod, RUN) === "forever" || (!ends && exitCode === undefined && seconds === undefined);
  return { fault, runMs: isEndless ? undefined : (seconds ?? 0) * 1000, exitCode: exitCode ?? 0 };
}
