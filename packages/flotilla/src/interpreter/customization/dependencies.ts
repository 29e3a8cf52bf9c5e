/** Merges the results of several dependency scripts into one list: validated, deduplicated and sorted. */
import type { Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { Dependency } from "@flotilla/kubernetes";

/** Throws `InterpretError` if a script returns an invalid reference. */
export function checkedDependencies(json: Json): Dependency[] {
  const dependencies = json as unknown as Dependency[];
  for (const [index, { apiVersion, kind, name, labelSelector }] of dependencies.entries()) {
    const problem = !apiVersion
      ? "missing required apiVersion"
      : !kind
        ? "missing required kind"
        : !name && !labelSelector
          ? "dependency can not leave name and labelSelector all empty"
          : undefined;
    if (problem !== undefined) throw new InterpretError(`dependencies[${index}]: ${problem}`);
  }
  return dependencies;
}

export function mergeDependencies(lists: readonly (readonly Dependency[])[]): Dependency[] {
  const byText = new Map<string, Dependency>();
  for (const dependency of lists.flat()) {
    const { apiVersion, kind, namespace = "", name = "", labelSelector } = dependency;
    byText.set(JSON.stringify([apiVersion, kind, namespace, name, labelSelector]), dependency);
  }
  return [...byText.values()].sort(byReference);
}

const SORTED_BY = ["apiVersion", "kind", "namespace", "name"] as const;

function byReference(a: Dependency, b: Dependency): number {
  for (const field of SORTED_BY) {
    const [left = "", right = ""] = [a[field], b[field]];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
