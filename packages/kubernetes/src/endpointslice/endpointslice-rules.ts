/** Defaults and validation of EndpointSlice. */
import { ENDPOINT_SLICE_MANAGED_BY_LABEL, HOSTNAME_LABEL } from "../well-known-names.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkLabels,
  checkText,
  checkUnchanged,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
  labelKeyProblems,
  labelValueProblems,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import type { Endpoint, EndpointHints, EndpointPort } from "@flotilla/apimachinery/facts/discovery-v1.ts";
import {
  addressWarnings,
  checkAddress,
  checkCanonicalAddress,
  checkEndpointAddress,
  isIPv6Text,
} from "../networking/addresses.ts";
import { checkProtocol } from "../networking/ports.ts";
import { EndpointSlice } from "./endpointslice-kind.ts";

type Read<T> = DeepReadonly<T>;

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

/**
 * The topology of an endpoint is only kept from objects that older servers stored; a change of the endpoints drops it.
 */
function completeSlice(slice: Read<EndpointSlice>, old: Read<EndpointSlice> | undefined): Read<EndpointSlice> {
  const typed = change(slice, "ports", (ports) =>
    changeItems<EndpointPort>(ports, (port) => fill(port, { name: "", protocol: "TCP" })),
  );
  if (
    !typed.endpoints?.some(({ deprecatedTopology }) => deprecatedTopology) ||
    (old && equalJson(typed.endpoints, old.endpoints))
  )
    return typed;
  const known = new Set(
    (old?.endpoints ?? []).flatMap(({ deprecatedTopology }) => deprecatedTopology?.[HOSTNAME_LABEL] ?? []),
  );
  return change(typed, "endpoints", (endpoints) =>
    changeItems<Endpoint>(endpoints, ({ deprecatedTopology, ...endpoint }) => {
      const host = deprecatedTopology?.[HOSTNAME_LABEL];
      return host !== undefined && known.has(host) && dnsSubdomainProblems(host).length === 0
        ? fill(endpoint, { nodeName: host })
        : endpoint;
    }),
  );
}

function checkSlice(
  { addressType = "", ports, endpoints }: Sent<EndpointSlice>,
  old: Read<EndpointSlice> | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (addressType === "") errors.push(field.required("addressType"));
  else if (!ADDRESS_TYPES.includes(addressType))
    errors.push(field.notSupported("addressType", addressType, ADDRESS_TYPES));
  errors.push(...checkPorts(ports ?? []));
  const endpointErrors = checkEndpoints(endpoints ?? [], addressType);
  // Rules became stricter over time; unchanged stored endpoints are accepted.
  if (!old || !equalJson(endpoints, old.endpoints)) errors.push(...endpointErrors);
  return [...errors, ...(old ? checkUnchanged("addressType", addressType, old.addressType) : [])];
}

function checkPorts(ports: readonly Sent<EndpointPort>[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [field.tooMany("ports", ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol, appProtocol }, index) => {
    const at = `ports[${index}]`;
    const errors = name === "" ? [] : checkText(`${at}.name`, name, dnsLabelProblems);
    if (names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
    names.add(name);
    errors.push(...checkProtocol(`${at}.protocol`, protocol));
    if (appProtocol !== undefined) errors.push(...checkText(`${at}.appProtocol`, appProtocol, labelKeyProblems));
    return errors;
  });
}

function checkEndpoints(endpoints: readonly Sent<Endpoint>[], addressType: string): FieldError[] {
  if (endpoints.length > MAX_ENDPOINTS) return [field.tooMany("endpoints", endpoints.length, MAX_ENDPOINTS)];
  const errors: FieldError[] = [];
  for (const [index, { addresses = [], nodeName, deprecatedTopology, hostname, hints }] of endpoints.entries()) {
    const at = `endpoints[${index}]`;
    if (addresses.length === 0) errors.push(field.required(`${at}.addresses`, "must contain at least 1 address"));
    else if (addresses.length > MAX_ADDRESSES)
      errors.push(field.tooMany(`${at}.addresses`, addresses.length, MAX_ADDRESSES));
    for (const [place, address] of addresses.entries())
      errors.push(...checkTypedAddress(`${at}.addresses`, place, address, addressType));
    if (nodeName !== undefined) errors.push(...checkText(`${at}.nodeName`, nodeName, dnsSubdomainProblems));
    const labels = Object.keys(deprecatedTopology ?? {}).length;
    if (labels > MAX_TOPOLOGY_LABELS)
      errors.push(field.tooMany(`${at}.deprecatedTopology`, labels, MAX_TOPOLOGY_LABELS));
    errors.push(...checkLabels(`${at}.deprecatedTopology`, deprecatedTopology));
    if (hostname !== undefined) errors.push(...checkText(`${at}.hostname`, hostname, dnsLabelProblems));
    if (hints) errors.push(...checkHints(`${at}.hints`, hints));
  }
  return errors;
}

function checkTypedAddress(path: string, index: number, address: string, type: string): FieldError[] {
  const at = `${path}[${index}]`;
  if (type === "FQDN") return checkDomain(at, address);
  if (type !== "IPv4" && type !== "IPv6") return [];
  const errors = type === "IPv4" ? checkAddress(at, address) : checkCanonicalAddress(at, address);
  if (errors.length > 0) return errors;
  return [
    ...(isIPv6Text(address) === (type === "IPv6") ? [] : [field.invalid(path, address, `must be an ${type} address`)]),
    ...checkEndpointAddress(at, address),
  ];
}

/** A name with at least one dot; a trailing dot is allowed. */
function checkDomain(at: string, name: string): FieldError[] {
  if (name === "") return [field.required(at)];
  const plain = name.replace(/\.$/, "");
  const problems = dnsSubdomainProblems(plain);
  if (problems.length > 0) return [field.invalid(at, plain, problems.join(","))];
  return plain.includes(".")
    ? []
    : [field.invalid(at, plain, "should be a domain with at least two segments separated by dots")];
}

function checkHints(at: string, { forZones = [], forNodes = [] }: Sent<EndpointHints>): FieldError[] {
  const check = (
    path: string,
    names: readonly string[],
    problemsOf: (text: string) => readonly string[],
  ): FieldError[] =>
    names.flatMap((name, index) => [
      ...(names.indexOf(name) < index ? [field.duplicate(`${at}.${path}[${index}].name`, name)] : []),
      ...checkText(`${at}.${path}[${index}].name`, name, problemsOf),
    ]);
  if (forZones.length > MAX_HINTS) return [field.tooMany(`${at}.forZones`, forZones.length, MAX_HINTS)];
  const errors = check(
    "forZones",
    forZones.map(({ name = "" }) => name),
    labelValueProblems,
  );
  if (forNodes.length > MAX_HINTS) return [...errors, field.tooMany(`${at}.forNodes`, forNodes.length, MAX_HINTS)];
  return [
    ...errors,
    ...check(
      "forNodes",
      forNodes.map(({ name = "" }) => name),
      dnsSubdomainProblems,
    ),
  ];
}

/** Controllers that validate addresses themselves. */
const VALIDATING_CONTROLLERS = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

function sliceWarnings({ metadata, addressType, endpoints }: Read<EndpointSlice>, isNew: boolean): string[] {
  const warnings = isNew && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
  if (VALIDATING_CONTROLLERS.includes(metadata.labels?.[ENDPOINT_SLICE_MANAGED_BY_LABEL] ?? "")) return warnings;
  for (const [index, { addresses }] of (endpoints ?? []).entries())
    for (const [place, address] of addresses.entries())
      warnings.push(...addressWarnings(`endpoints[${index}].addresses[${place}]`, address));
  return warnings;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(EndpointSlice, "discovery-v1", {
    complete: (slice, { oldObject }) => completeSlice(slice, oldObject),
    validate: ({ object, oldObject }) => checkSlice(object, oldObject),
    warnings: ({ object, operation }) => sliceWarnings(object, operation === "CREATE"),
  }),
];
