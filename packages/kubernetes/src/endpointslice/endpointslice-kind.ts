/** EndpointSlice: a subset of the addresses behind a Service. */
import { type DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { EndpointPort, EndpointSlice as EndpointSliceFacts } from "@flotilla/apimachinery/facts/discovery-v1.ts";
import { shortList } from "../networking/cells.ts";

export type EndpointSlice = EndpointSliceFacts;

type Read<T> = DeepReadonly<T>;

const portCell = ({ port, name }: Read<EndpointPort>): string => (port === undefined ? (name ?? "*") : String(port));

export const EndpointSlice: Kind<EndpointSlice> = builtInKind<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  scope: "Namespaced",
  facts: "discovery-v1",
  columns: [
    nameColumn,
    column<EndpointSlice>("AddressType", ({ addressType }) => addressType),
    column<EndpointSlice>("Ports", ({ ports }) => shortList((ports ?? []).map(portCell), "<unset>")),
    column<EndpointSlice>("Endpoints", ({ endpoints }) =>
      shortList(
        (endpoints ?? []).flatMap(({ addresses }) => addresses),
        "<unset>",
      ),
    ),
    ageColumn,
  ],
  hasGeneration: true,
  traits: { untrackedByControllers: "others", metadataChecks: { create: true }, labelsCountAsSpec: true },
});
