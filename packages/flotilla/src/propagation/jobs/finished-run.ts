/**
 * Kinds that run once, such as Job: a run that is finished on every member is not placed again, whatever happens to the
 * members, unless its policy or the object itself asks for it. Pure.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { knownKinds } from "../../interpreter/interpreter.ts";
import { RERUN_JOBS } from "../../flotilla-names.ts";

const rules = new Map(
  knownKinds.flatMap(({ group, kind, isFinished }) => (isFinished ? [[`${group}/${kind}`, isFinished] as const] : [])),
);

/** The fields of a binding that this depends on. */
export interface RunView {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: DeepReadonly<Pick<ResourceBinding["spec"], "resource" | "clusters">>;
  readonly status?: {
    readonly aggregatedStatus?: readonly { readonly clusterName: string; readonly status?: unknown }[];
  };
}

/** Whether objects of this kind run once. */
export function runsOnce({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return rules.has(`${parseApiVersion(apiVersion).group}/${kind}`);
}

/** Whether what moves runs again in full: match takes the annotation from the object, or else from its policy. */
export function runsAgain({ metadata }: Pick<RunView, "metadata">): boolean {
  return metadata.annotations?.[RERUN_JOBS] === "true";
}

/** A target that has not reported may still have to run. */
export function isFinishedRun(binding: RunView): boolean {
  return (
    runsOnce(binding.spec.resource) && !runsAgain(binding) && reported(binding) > 0 && runningOn(binding).length === 0
  );
}

const reported = ({ status }: RunView): number => status?.aggregatedStatus?.length ?? 0;

/** The members on which an object that runs once is not finished, or has not reported that it is. */
export function runningOn({ spec, status }: RunView): string[] {
  const { apiVersion, kind } = spec.resource;
  const isFinished = rules.get(`${parseApiVersion(apiVersion).group}/${kind}`);
  const items = status?.aggregatedStatus ?? [];
  const finished = new Set(
    items.flatMap(({ clusterName, status: said }) => (isObject(said) && isFinished?.(said) ? [clusterName] : [])),
  );
  const members = new Set(
    [...(spec.clusters ?? []), ...items.map(({ clusterName: name }) => ({ name }))].map(({ name }) => name),
  );
  return [...members].filter((name) => !finished.has(name));
}
