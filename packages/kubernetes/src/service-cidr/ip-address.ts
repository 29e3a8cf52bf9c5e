/** IPAddress: one address of a cluster's Services, and its owner. Its name is the address. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind, Sent } from "@flotilla/apimachinery";
import type { IPAddress as IPAddressFacts, ParentReference } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { parseAddress } from "../networking/addresses.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type IPAddress = IPAddressFacts;

const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";

const MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by";

/** Set by the Service allocator on its objects. */
const ALLOCATOR = "ipallocator.k8s.io";

/** Created by the allocator, and removed by it; users may reserve an address by creating one. */
export const isAllocated = ({ metadata }: Pick<DeepReadonly<IPAddress>, "metadata">): boolean =>
  metadata.labels?.[MANAGER_LABEL] === ALLOCATOR;

function parentCell({ group = "", resource = "", namespace, name = "" }: Sent<ParentReference>): string {
  return [
    (group === "" ? resource : `${resource}.${group}`).toLowerCase(),
    ...(namespace ? [namespace] : []),
    name,
  ].join("/");
}

export const IPAddress: Kind<IPAddress> = builtInKind<IPAddress>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "IPAddress",
  plural: "ipaddresses",
  shortNames: ["ip"],
  scope: "Cluster",
  facts: "networking-v1",
  columns: [
    nameColumn,
    column<IPAddress>("ParentRef", ({ spec }) => (spec?.parentRef ? parentCell(spec.parentRef) : "<none>")),
  ],
  traits: { names: "address", metadataChecks: { update: true, create: true } },
});

/** The IPAddress of a Service. */
export function addressOfService(address: string, service: { namespace: string; name: string }): IPAddress {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: {
      name: address,
      labels: { [FAMILY_LABEL]: `IPv${parseAddress(address)?.family ?? 4}`, [MANAGER_LABEL]: ALLOCATOR },
    },
    spec: { parentRef: { resource: "services", ...service } },
  };
}

export const ipAddress = defineKind({
  kind: IPAddress,
  rules: [
    lazyAdmission(IPAddress, "networking-v1", async () => (await import("./service-range-rules.ts")).ipAddressRules),
  ],
  example: exampleOf(IPAddress, {
    metadata: { name: "192.168.0.1" },
    spec: { parentRef: { resource: "services", name: "web" } },
  }),
});
