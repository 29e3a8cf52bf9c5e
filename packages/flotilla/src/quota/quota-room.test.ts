import { expect, test } from "vitest";
import type { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { createQuotaRoom } from "./quota-room.ts";

type Spec = ResourceBinding["spec"];
const quota = {
  metadata: { namespace: "shop", name: "team" },
  spec: { overall: { cpu: "2" } },
} as unknown as FederatedResourceQuota;
/** `spec.replicas` is not charged, but the replicas of clusters. */
const binding = (cpu: string, replicas: number): ResourceBinding =>
  ({
    metadata: { namespace: "shop", name: "web-deployment" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
      replicas,
      replicaRequirements: { resourceRequest: { cpu } },
      clusters: [{ name: "member1", replicas }],
    } as Spec,
  }) as ResourceBinding;
const room = (stored: ResourceBinding) =>
  createQuotaRoom({
    hub: "hub",
    quotas: { list: () => [quota] } as never,
    bindings: { list: () => [stored] } as never,
  });

test("a binding that got larger requests before its replicas uses both", () => {
  const { refusalOf } = room(binding("100m", 3));

  expect(refusalOf(binding("500m", 3), binding("500m", 4))).toBeUndefined();
  expect(refusalOf(binding("500m", 3), binding("500m", 5))).toContain("exceeded for resource cpu");
});

test("a binding that got smaller requests before its replicas has room for more", () => {
  const { refusalOf } = room(binding("500m", 4));

  expect(refusalOf(binding("100m", 4), binding("100m", 9))).toBeUndefined();
});
