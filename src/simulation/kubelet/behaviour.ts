/**
 * What the containers of a pod do once they run: for ever, or until they end, as annotations, plain commands and the
 * owner say. Pure.
 */
import type { Container, Pod } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { RUN, annotationOf, exitCodeOf, faultOf, secondsOf } from "../annotations.ts";
import type { Fault } from "../annotations.ts";
import { scriptOf } from "./script.ts";

export interface Behaviour {
  readonly fault: Fault | undefined;
  /** How long a container runs before it ends by itself; unset for ever. */
  readonly runMs: number | undefined;
  /** What it ends with. */
  readonly exitCode: number;
}

/** Owners whose pods have work to do that ends; nothing is computed here, so it is done at once. */
const ENDING = new Set(["Job", "BroadcastJob", "Workflow"]);

/** Helm waits for such a pod to succeed: `helm test`, and hooks before and after an installation. */
const HELM_HOOK = "helm.sh/hook";

const FOREVER: Behaviour = { fault: undefined, runMs: undefined, exitCode: 0 };
const AT_ONCE: Behaviour = { ...FOREVER, runMs: 0 };

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyContainer = DeepReadonly<Container>;

/** What people say with annotations comes first, then the command, then what such pods are for. */
export function behaviourOf(pod: ReadonlyPod, container: ReadonlyContainer): Behaviour {
  const fault = faultOf(pod);
  if (fault === "crash-loop") return { fault, runMs: 0, exitCode: exitCodeOf(pod) || 1 };
  const exitCode = exitCodeOf(pod);
  const seconds = secondsOf(pod, RUN);
  if (annotationOf(pod, RUN) === "forever") return { ...FOREVER, fault };
  if (exitCode !== undefined || seconds !== undefined)
    return { fault, runMs: (seconds ?? 0) * 1000, exitCode: exitCode ?? 0 };
  const script = mayEnd(pod, container) ? scriptOf(container) : undefined;
  if (script) return { fault, runMs: script.runMs, exitCode: script.exitCode };
  const ends =
    pod.metadata.annotations?.[HELM_HOOK] !== undefined ||
    (pod.metadata.ownerReferences?.some(({ kind }) => ENDING.has(kind)) ?? false);
  return { ...FOREVER, fault, runMs: ends ? 0 : undefined };
}

/**
 * An init container must be done before the others start, whatever annotations say about those: they take no time
 * unless its command does.
 */
export function initBehaviourOf(pod: ReadonlyPod, container: ReadonlyContainer): Behaviour {
  const fault = faultOf(pod) === "image-pull-error" ? "image-pull-error" : undefined;
  const { runMs, exitCode } = scriptOf(container) ?? AT_ONCE;
  return { fault, runMs, exitCode };
}

/**
 * A container that starts again whenever it ends is meant to run; that its command says `sleep 3600` is only how it
 * does.
 */
function mayEnd({ spec }: ReadonlyPod, { restartPolicy }: ReadonlyContainer): boolean {
  return (restartPolicy ?? spec.restartPolicy ?? "Always") !== "Always";
}
