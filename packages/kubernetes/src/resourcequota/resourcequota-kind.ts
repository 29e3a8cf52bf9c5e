/** ResourceQuota: limits the total of a namespace. The server counts before it stores; `status.used` is the count. */
import { type DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ResourceQuota as ResourceQuotaFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type ResourceQuota = ResourceQuotaFacts;
type Quota = DeepReadonly<ResourceQuota>;

/** `used/hard` of every resource, either for limits or for all others. */
function usage({ status }: Quota, ofLimits: boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  return Object.keys(hard)
    .filter((name) => name.startsWith("limits.") === ofLimits)
    .sort()
    .map((name) => `${name}: ${used[name] ?? "0"}/${hard[name] ?? ""}`)
    .join(", ");
}

export const ResourceQuota: Kind<ResourceQuota> = builtInKind<ResourceQuota>({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  shortNames: ["quota"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<ResourceQuota>("Request", (quota) => usage(quota, false)),
    column<ResourceQuota>("Limit", (quota) => usage(quota, true)),
    ageColumn,
  ],
  subresources: { status: true },
  traits: { deletionReturnsObject: true },
});
