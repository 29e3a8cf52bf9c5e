/** Endpoints: the addresses behind a Service, in one object. EndpointSlice replaces it. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelKeyProblems,
  type FieldError,
} from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints as EndpointsFacts,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkText } from "@flotilla/apimachinery";
import { change, changeItems, fill } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { addressWarnings, checkAddress, checkEndpointAddress } from "../networking/addresses.ts";
import { shortList } from "../networking/cells.ts";
import { checkPortNumber, checkProtocol } from "../networking/ports.ts";
import type { Sent } from "@flotilla/apimachinery";

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

function completeEndpoints(endpoints: Read<Endpoints>): Read<Endpoints> {
  const completePort = (port: Read<EndpointPort>): Read<EndpointPort> => fill(port, { protocol: "TCP" });
  return change(endpoints, "subsets", (subsets) =>
    changeItems<EndpointSubset>(subsets, (subset) =>
      change(subset, "ports", (ports) => changeItems<EndpointPort>(ports, completePort)),
    ),
  );
}

function checkSubsets(subsets: readonly Read<EndpointSubset>[]): FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const at = `subsets[${index}]`;
    return [
      ...(addresses.length + notReadyAddresses.length === 0
        ? [field.required(at, "must specify `addresses` or `notReadyAddresses`")]
        : []),
      ...addresses.flatMap((address, place) => checkSubsetAddress(`${at}.addresses[${place}]`, address)),
      ...notReadyAddresses.flatMap((address, place) =>
        checkSubsetAddress(`${at}.notReadyAddresses[${place}]`, address),
      ),
      ...ports.flatMap((port, place) => checkSubsetPort(`${at}.ports[${place}]`, port, ports.length > 1)),
    ];
  });
}

function checkSubsetAddress(at: string, { ip = "", hostname, nodeName }: Sent<EndpointAddress>): FieldError[] {
  return [
    ...checkAddress(`${at}.ip`, ip),
    ...(hostname ? checkText(`${at}.hostname`, hostname, dnsLabelProblems) : []),
    ...(nodeName === undefined ? [] : checkText(`${at}.nodeName`, nodeName, dnsSubdomainProblems)),
    ...checkEndpointAddress(`${at}.ip`, ip),
  ];
}

function checkSubsetPort(
  at: string,
  { name, port, protocol, appProtocol }: Read<EndpointPort>,
  needsName: boolean,
): FieldError[] {
  return [
    ...(name ? checkText(`${at}.name`, name, dnsLabelProblems) : needsName ? [field.required(`${at}.name`)] : []),
    ...checkPortNumber(`${at}.port`, port),
    ...checkProtocol(`${at}.protocol`, protocol),
    ...(appProtocol === undefined ? [] : checkText(`${at}.appProtocol`, appProtocol, labelKeyProblems)),
  ];
}

function endpointsWarnings({ metadata, subsets = [] }: Read<Endpoints>): string[] {
  // The endpoints controller validates its addresses itself.
  if (metadata.labels?.["endpoints.kubernetes.io/managed-by"] === "endpoint-controller") return [];
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }, index) => [
    ...addresses.flatMap(({ ip }, place) => addressWarnings(`subsets[${index}].addresses[${place}].ip`, ip)),
    ...notReadyAddresses.flatMap(({ ip }, place) =>
      addressWarnings(`subsets[${index}].notReadyAddresses[${place}].ip`, ip),
    ),
  ]);
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(Endpoints, "core-v1", {
    complete: completeEndpoints,
    validate({ object, oldObject }) {
      const errors = checkSubsets(object.subsets ?? []);
      // Rules became stricter over time; unchanged stored subsets are accepted.
      return errors.length > 0 && oldObject && equalJson(object.subsets, oldObject.subsets) ? [] : errors;
    },
    warnings: ({ object }) => endpointsWarnings(object),
  }),
];
