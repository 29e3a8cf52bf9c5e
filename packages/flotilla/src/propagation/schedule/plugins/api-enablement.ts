import { formatApiVersion } from "@flotilla/apimachinery";
import { kruiseKinds } from "@flotilla/openkruise";
import { fits, rejects, servedKey, type FilterPlugin } from "../framework.ts";

const NOT_SERVED = rejects("cluster(s) did not have the API resource");
const NO_OTHERS: readonly string[] = [];

/**
 * OpenKruise's kinds in the versions that delivery converts to: a member that serves one of them can have a template of
 * another. Fields that this version lacks are rejected at delivery.
 */
let others: ReadonlyMap<string, readonly string[]> | undefined;

function otherVersions(served: string): readonly string[] {
  others ??= new Map(
    kruiseKinds.flatMap(({ group, kind, versions }) => {
      const keys = Object.keys(versions).map((version) => servedKey(formatApiVersion(group, version), kind));
      return keys.map((key): [string, readonly string[]] => [key, keys.filter((other) => other !== key)]);
    }),
  );
  return others.get(served) ?? NO_OTHERS;
}

/** Whether a cluster that serves these kinds can have an object of the kind, in its version or in one that it converts to. */
const mayServe = (serves: ReadonlySet<string>, served: string): boolean =>
  serves.has(served) || otherVersions(served).some((other) => serves.has(other));

/**
 * Excludes clusters that do not serve the resource's kind. A cluster that already runs the resource stays: served kinds
 * come from discovery, and a partially failed discovery must not remove a workload.
 */
export const apiEnablement: FilterPlugin = {
  name: "APIEnablement",
  filter({ served, targets }, { name, serves }) {
    return targets.has(name) || mayServe(serves, served) ? fits : NOT_SERVED;
  },
};
