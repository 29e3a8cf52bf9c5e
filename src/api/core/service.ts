/** Service: a stable address for pods that come and go. */
import type { DeepReadonly } from "../../base/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn, selectorCell, wide } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Service as ServiceFacts } from "../facts/core-v1.ts";
import type { Kind } from "../kind.ts";
import { completeService } from "./service-defaults.ts";
import { checkService } from "./service-validation.ts";

export type Service = ServiceFacts;

function externalAddress({ spec = {}, status }: DeepReadonly<Service>): string {
  const external = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return spec.externalName ?? "";
  if (spec.type !== "LoadBalancer") return external.join(",") || "<none>";
  const balancers = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || "");
  return [...new Set([...balancers, ...external])].sort().join(",") || "<pending>";
}

function ports({ spec = {} }: DeepReadonly<Service>): string {
  const texts = (spec.ports ?? []).map(({ port, nodePort, protocol = "TCP" }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`);
  return texts.join(",") || "<none>";
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
    column<Service>("Cluster-IP", ({ spec }) => spec?.clusterIPs?.[0] ?? spec?.clusterIP ?? "<none>"),
    column<Service>("External-IP", externalAddress),
    column<Service>("Port(s)", ports),
    ageColumn,
    column<Service>("Selector", ({ spec }) => selectorCell({ matchLabels: spec?.selector ?? {} }), wide),
  ],
  subresources: { status: true },
});

export const admissions: AnyAdmission[] = [builtInAdmission(Service, "core-v1", { complete: completeService, validate: ({ object }) => checkService(object) })];
