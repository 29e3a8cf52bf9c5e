/** ServiceCIDR: ranges from which Services get their addresses. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ServiceCIDR as ServiceCIDRFacts } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { parseNetwork } from "../networking/addresses.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ServiceCIDR = ServiceCIDRFacts;

export const ServiceCIDR: Kind<ServiceCIDR> = builtInKind<ServiceCIDR>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  scope: "Cluster",
  facts: "networking-v1",
  columns: [nameColumn, column<ServiceCIDR>("CIDRs", ({ spec }) => (spec?.cidrs ?? []).join(",")), ageColumn],
  subresources: { status: true },
  traits: { statusKeepsMetadata: true },
});

export const rangesOf = ({ spec }: DeepReadonly<ServiceCIDR>): readonly string[] => spec?.cidrs ?? [];

/** The initial range of every cluster. */
export const DEFAULT_SERVICE_CIDR = "kubernetes";

export function defaultServiceCidr(range: string, since: string): ServiceCIDR {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: DEFAULT_SERVICE_CIDR },
    spec: { cidrs: [range] },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "",
          message: "Kubernetes default Service CIDR is ready",
          lastTransitionTime: since,
        },
      ],
    },
  };
}

/** The IPv4 ranges from which addresses may be allocated: none of a range that is being deleted or not ready. */
export function usableRanges(
  object: DeepReadonly<ServiceCIDR>,
): { address: readonly number[]; prefixLength: number }[] {
  const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
  if (object.metadata.deletionTimestamp !== undefined || (ready && ready.status !== "True")) return [];
  return rangesOf(object).flatMap((text) => {
    const network = parseNetwork(text);
    return network?.address.family === 4
      ? [{ address: network.address.bytes, prefixLength: network.prefixLength }]
      : [];
  });
}

export const serviceCidr = defineKind({
  kind: ServiceCIDR,
  rules: [
    lazyAdmission(
      ServiceCIDR,
      "networking-v1",
      async () => (await import("./service-range-rules.ts")).serviceCidrRules,
    ),
  ],
  example: exampleOf(ServiceCIDR, { spec: { cidrs: ["192.168.0.0/24"] } }),
});
