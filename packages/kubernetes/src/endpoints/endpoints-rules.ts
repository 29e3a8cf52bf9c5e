/** Defaults and validation of Endpoints. */
import { ENDPOINTS_MANAGED_BY_LABEL } from "../well-known-names.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkText,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "@flotilla/apimachinery/facts/core-v1.ts";
import { addressWarnings, checkAddress, checkEndpointAddress } from "../networking/addresses.ts";
import { checkPortNumber, checkProtocol } from "../networking/ports.ts";
import { Endpoints } from "./endpoints-kind.ts";

type Read<T> = DeepReadonly<T>;

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
  if (metadata.labels?.[ENDPOINTS_MANAGED_BY_LABEL] === "endpoint-controller") return [];
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }, index) => [
    ...addresses.flatMap(({ ip }, place) => addressWarnings(`subsets[${index}].addresses[${place}].ip`, ip)),
    ...notReadyAddresses.flatMap(({ ip }, place) =>
      addressWarnings(`subsets[${index}].notReadyAddresses[${place}].ip`, ip),
    ),
  ]);
}

export const rules: AnyAdmission[] = [
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
