/** Paths of members below the address of the hub. Pure. */
import { HUB } from "@flotilla/apimachinery";
import { resourcePath } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";

export function memberPath(member: string, path: string): string {
  const proxy = resourcePath({
    cluster: HUB,
    group: Cluster.group,
    version: Cluster.storageVersion,
    resource: Cluster.plural,
    name: member,
    subresource: "proxy",
  });
  return `${proxy}${path}`;
}
