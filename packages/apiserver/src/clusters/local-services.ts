/** The APIServices of what this server itself serves. Pure. */
import { APIService, LOCALLY_AVAILABLE } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import type { ResourceTable } from "../resources/resources.ts";

/** The status of an APIService that this server answers for. */
export const localStatus = (now: string): JsonObject => ({
  conditions: [{ ...LOCALLY_AVAILABLE, lastTransitionTime: now }],
});

interface Served {
  group: string;
  version: string;
  isBuiltIn: boolean;
}

/** The versions of a table by the names of their APIServices. */
export function servedVersions({ resources }: ResourceTable): Map<string, Served> {
  const served = new Map<string, Served>();
  for (const { kind, versions } of resources) {
    // As in kube-apiserver, the group of APIServices has none itself.
    if (kind.group === APIService.group) continue;
    for (const { version } of versions) {
      const name = `${version}.${kind.group}`;
      if (!served.get(name)?.isBuiltIn) served.set(name, { group: kind.group, version, isBuiltIn: kind.builtIn });
    }
  }
  return served;
}
