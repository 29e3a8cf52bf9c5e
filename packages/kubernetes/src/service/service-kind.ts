/** Service: a stable address for a changing set of pods. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Service as ServiceFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Service = ServiceFacts;

function externalAddress({ spec = {}, status }: DeepReadonly<Service>): string {
  const { type, externalIPs = [] } = spec;
  if (type === "ExternalName") return spec.externalName ?? "";
  if (type !== "LoadBalancer") return externalIPs.join(",") || "<none>";
  const balancers = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || []);
  return [...[...new Set(balancers)].sort(), ...externalIPs].join(",") || "<pending>";
}

function ports({ spec = {} }: DeepReadonly<Service>): string {
  const texts = (spec.ports ?? []).map(
    ({ port, nodePort, protocol = "TCP" }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`,
  );
  return texts.join(",") || "<none>";
}

function selector({ spec = {} }: DeepReadonly<Service>): string {
  const texts = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return texts.sort().join(",") || "<none>";
}

export const Service: Kind<Service> = builtInKind<Service>({
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<Service>("Type", ({ spec }) => spec?.type ?? ""),
    column<Service>("Cluster-IP", ({ spec }) => spec?.clusterIPs?.[0] ?? "<none>"),
    column<Service>("External-IP", externalAddress),
    column<Service>("Port(s)", ports),
    ageColumn,
    column<Service>("Selector", selector, wide),
  ],
  subresources: { status: true },
  traits: {
    names: "label",
    createOnUpdate: true,
    deletionReturnsObject: true,
    selectableFields: {
      "spec.clusterIP": (object) => (object as DeepReadonly<Service>).spec?.clusterIP ?? "",
      "spec.type": (object) => (object as DeepReadonly<Service>).spec?.type ?? "",
    },
  },
});
