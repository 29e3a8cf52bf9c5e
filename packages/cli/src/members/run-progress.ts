/** How far an object that runs to completion has come: it is healthy while it runs, which is not the end. Pure. */
import { findCondition, formatApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { runsToCompletion } from "@flotilla/flotilla";
import { objectOf } from "@flotilla/base";
import type { AnyKind } from "@flotilla/client";

/** Whether objects of a kind run to completion. */
export const isRun = ({ group, storageVersion, kind }: AnyKind): boolean =>
  runsToCompletion({ apiVersion: formatApiVersion(group, storageVersion), kind });

/** The conditions and phases of kinds that have succeeded. */
const COMPLETE = ["Complete", "Completed", "SuccessCriteriaMet"];
const COMPLETE_PHASES: ReadonlySet<unknown> = new Set(["Succeeded", "completed"]);

/** `1 of 4 completions done, still running`; undefined for other kinds, and when it is done. */
export function runProgress(copy: DeepReadonly<KubernetesObject>): string | undefined {
  if (!runsToCompletion(copy)) return undefined;
  const { spec, status } = copy as unknown as { spec?: JsonObject; status?: JsonObject };
  const { conditions, phase, succeeded, active, desired } = objectOf(status);
  const known = Array.isArray(conditions) ? (conditions as { type: string; status: string }[]) : [];
  if (COMPLETE_PHASES.has(phase) || COMPLETE.some((type) => findCondition(known, type)?.status === "True"))
    return undefined;
  const { completions, suspend } = objectOf(spec);
  const state = suspend === true ? "suspended" : isActive(active, phase) ? "still running" : "not done yet";
  const done = typeof succeeded === "number" ? succeeded : 0;
  if (typeof completions === "number") return `${done} of ${completions} completions done, ${state}`;
  return typeof desired === "number" ? `${done} of ${desired} pods done, ${state}` : state;
}

const isActive = (active: unknown, phase: unknown): boolean =>
  (typeof active === "number" && active > 0) || phase === "Running" || phase === "running";

/** A run is healthy while it runs: the line says what it has still to do. */
export const renderHealthy = (resource: string, cluster: string, left: string | undefined): string =>
  `${resource} is healthy on ${cluster}${left === undefined ? "" : `: ${left}`}`;
