/** IngressClass: the controller that implements Ingresses. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { IngressClass as IngressClassFacts } from "@flotilla/apimachinery/facts/networking-v1.ts";

export type IngressClass = IngressClassFacts;

type Read<T> = DeepReadonly<T>;

/** With the value `true` it marks the default class of Ingresses. */
export const DEFAULT_INGRESS_CLASS = "ingressclass.kubernetes.io/is-default-class";

function parametersCell({ spec }: Read<IngressClass>): string {
  const { parameters } = spec ?? {};
  return parameters
    ? `${parameters.kind}${parameters.apiGroup === undefined ? "" : `.${parameters.apiGroup}`}/${parameters.name}`
    : "<none>";
}

export const IngressClass: Kind<IngressClass> = builtInKind<IngressClass>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "IngressClass",
  plural: "ingressclasses",
  scope: "Cluster",
  facts: "networking-v1",
  columns: [
    column<IngressClass>(
      "Name",
      ({ metadata }) =>
        metadata.annotations?.[DEFAULT_INGRESS_CLASS] === "true" ? `${metadata.name} (default)` : metadata.name,
      { format: "name" },
    ),
    column<IngressClass>("Controller", ({ spec }) => spec?.controller ?? ""),
    column<IngressClass>("Parameters", parametersCell),
    ageColumn,
  ],
  hasGeneration: true,
  traits: { metadataChecks: { update: true, create: true } },
});
