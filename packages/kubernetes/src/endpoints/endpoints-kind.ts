/** Endpoints: the addresses behind a Service, in one object. EndpointSlice replaces it. */
import { type DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Endpoints as EndpointsFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { shortList } from "../networking/cells.ts";

export type Endpoints = EndpointsFacts;

type Read<T> = DeepReadonly<T>;

/** All combinations of address and port. */
function endpointsCell({ subsets = [] }: Read<Endpoints>): string {
  if (subsets.length === 0) return "<none>";
  const pairs = subsets.flatMap(({ addresses = [], ports = [] }) => {
    if (ports.length === 0) return addresses.map(({ ip }) => ip);
    return ports.flatMap(({ port }) =>
      addresses.map(({ ip }) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)),
    );
  });
  return shortList(pairs);
}

export const Endpoints: Kind<Endpoints> = builtInKind<Endpoints>({
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [nameColumn, column<Endpoints>("Endpoints", endpointsCell), ageColumn],
  deprecationWarning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  traits: { createOnUpdate: true, metadataChecks: { update: true, create: true } },
});
