/** Ingress: routes hosts and paths to Services. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Ingress as IngressFacts } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { balancerCell } from "../networking/cells.ts";

export type Ingress = IngressFacts;

type Read<T> = DeepReadonly<T>;

const SHOWN_HOSTS = 3;

function hostsCell({ spec }: Read<Ingress>): string {
  const rules = spec?.rules ?? [];
  const hosts = rules.flatMap(({ host }) => host || []);
  if (hosts.length === 0) return "*";
  // Rules without a host count as not shown, as upstream does.
  const isCut = rules.length > SHOWN_HOSTS && rules.slice(0, -1).filter(({ host }) => host).length >= SHOWN_HOSTS;
  return `${hosts.slice(0, SHOWN_HOSTS).join(",")}${isCut ? ` + ${rules.length - SHOWN_HOSTS} more...` : ""}`;
}

export const Ingress: Kind<Ingress> = builtInKind<Ingress>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
  shortNames: ["ing"],
  scope: "Namespaced",
  facts: "networking-v1",
  columns: [
    nameColumn,
    column<Ingress>("Class", ({ spec }) => spec?.ingressClassName ?? "<none>"),
    column<Ingress>("Hosts", hostsCell),
    column<Ingress>("Address", ({ status }) => balancerCell(status?.loadBalancer?.ingress ?? [])),
    column<Ingress>("Ports", ({ spec }) => (spec?.tls?.length ? "80, 443" : "80")),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { metadataChecks: { update: true, create: true } },
});
