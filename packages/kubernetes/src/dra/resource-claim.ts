/** ResourceClaim: a request for devices, such as accelerators, and its allocation. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ResourceClaim as ResourceClaimFacts } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ResourceClaim = ResourceClaimFacts;

function stateCell({ metadata, status }: DeepReadonly<ResourceClaim>): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ["deleted"] : [];
  if (status?.allocation) states.push("allocated", ...(status.reservedFor?.length ? ["reserved"] : []));
  else if (!isDeleted) states.push("pending");
  return states.join(",");
}

export const ResourceClaim: Kind<ResourceClaim> = builtInKind<ResourceClaim>({
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  scope: "Namespaced",
  facts: "resource-v1",
  columns: [nameColumn, column<ResourceClaim>("State", stateCell), ageColumn],
  subresources: { status: true },
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true }, statusKeepsMetadata: true },
});

export const resourceClaim = defineKind({
  kind: ResourceClaim,
  rules: [
    lazyAdmission(ResourceClaim, "resource-v1", async () => (await import("./device-rules.ts")).resourceClaimRules),
  ],
  example: exampleOf(ResourceClaim, {
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } },
  }),
});
