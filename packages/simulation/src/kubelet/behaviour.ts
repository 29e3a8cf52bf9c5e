/**
 * How the containers of a pod behave once they run: forever, or until they exit, according to annotations, plain
 * commands and the owner. Pure.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isServed, kubernetesDefinitions, type Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { argoDefinitions } from "@flotilla/argo";
import { kruiseDefinitions } from "@flotilla/openkruise";
import { RUN, annotationOf, exitCodeOf, faultOf, secondsOf } from "../annotations.ts";
import type { Fault } from "../annotations.ts";
import { scriptOf } from "./script.ts";

export interface Behaviour {
  readonly fault: Fault | undefined;
  /** How long a container runs before it exits; unset means forever. */
  readonly runMs: number | undefined;
  /** Its exit code. */
  readonly exitCode: number;
}

/** Owners whose pods run to completion; nothing is computed here, so they complete at once. */
const ENDING = new Set(
  [...kubernetesDefinitions, ...kruiseDefinitions, ...argoDefinitions]
    .map(({ kind }) => kind)
    .filter((kind) => isServed(kind) && kind.workload?.runsToCompletion)
    .map(({ kind }) => kind),
);

/** Helm waits for such a pod to succeed: `helm test`, and hooks before and after an installation. */
const HELM_HOOK = "helm.sh/hook";

const FOREVER: Behaviour = { fault: undefined, runMs: undefined, exitCode: 0 };
const AT_ONCE: Behaviour = { ...FOREVER, runMs: 0 };

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyContainer = DeepReadonly<Container>;

/** Annotations take precedence, then the command, then the default of the owner's kind. */
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
 * An init container must finish before the others start, and annotations apply only to those others: it takes no time
 * unless its command does.
 */
export function initBehaviourOf(pod: ReadonlyPod, container: ReadonlyContainer): Behaviour {
  const fault = faultOf(pod) === "image-pull-error" ? "image-pull-error" : undefined;
  const { runMs, exitCode } = scriptOf(container) ?? AT_ONCE;
  return { fault, runMs, exitCode };
}

/**
 * A container that is restarted whenever it exits is meant to keep running; a command such as `sleep 3600` does not end
 * it.
 */
function mayEnd({ spec }: ReadonlyPod, { restartPolicy }: ReadonlyContainer): boolean {
  return (restartPolicy ?? spec.restartPolicy ?? "Always") !== "Always";
}
