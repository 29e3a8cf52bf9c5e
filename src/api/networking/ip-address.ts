/** IPAddress: one address of a cluster's Services, and whose it is. Its name is the address. */
import { equalJson, type DeepReadonly } from "../../base/index.ts";
import { dnsSubdomainProblems, pathSegmentProblems, type FieldError } from "../../machinery/index.ts";
import type { AnyAdmission, Review } from "../admission.ts";
import { column, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { IPAddress as IPAddressFacts, ParentReference } from "../facts/networking-v1.ts";
import { checkText, missing, wrong } from "../field-errors.ts";
import type { Kind } from "../kind.ts";
import type { Sent } from "../sent.ts";
import { parseAddress } from "./addresses.ts";
import { checkReferenceName } from "./ingress-class.ts";

export type IPAddress = IPAddressFacts;

const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
const MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by";
/** The allocator of Services writes it on what it makes. */
const ALLOCATOR = "ipallocator.k8s.io";

/** Made by the allocator, and to be removed by it; others may keep addresses to themselves by making one. */
export const isAllocated = ({ metadata }: Pick<DeepReadonly<IPAddress>, "metadata">): boolean =>
  metadata.labels?.[MANAGER_LABEL] === ALLOCATOR;

function parentCell({ group = "", resource = "", namespace, name = "" }: Sent<ParentReference>): string {
  return [
    (group === "" ? resource : `${resource}.${group}`).toLowerCase(),
    ...(namespace ? [namespace] : []),
    name,
  ].join("/");
}

export const IPAddress: Kind<IPAddress> = builtInKind<IPAddress>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "IPAddress",
  plural: "ipaddresses",
  shortNames: ["ip"],
  scope: "Cluster",
  facts: "networking-v1",
  columns: [
    nameColumn,
    column<IPAddress>("ParentRef", ({ spec }) => (spec?.parentRef ? parentCell(spec.parentRef) : "<none>")),
  ],
  traits: { names: "address", metadataChecks: { update: true, create: true } },
});

function checkParent(at: string, parent: Sent<ParentReference> | undefined): FieldError[] {
  if (!parent) return [missing(at)];
  const { group, resource = "", namespace, name = "" } = parent;
  return [
    // Services are in the group without a name.
    ...(group ? checkText(`${at}.group`, group, dnsSubdomainProblems) : []),
    ...checkReferenceName(`${at}.resource`, resource),
    ...checkReferenceName(`${at}.name`, name),
    ...(namespace ? checkText(`${at}.namespace`, namespace, pathSegmentProblems) : []),
  ];
}

/** As messages print a parent: with every field. */
const parentForm = ({ group = "", resource = "", namespace = "", name = "" }: Sent<ParentReference>): object => ({
  Group: group,
  Resource: resource,
  Namespace: namespace,
  Name: name,
});

function checkAddressObject({ object, oldObject }: Review<IPAddress>): FieldError[] {
  const at = "spec.parentRef";
  const parent = object.spec?.parentRef;
  const errors = checkParent(at, parent);
  if (oldObject && !equalJson(parent, oldObject.spec?.parentRef))
    errors.push(wrong(at, parent && parentForm(parent), "field is immutable"));
  return errors;
}

/** The address that a Service holds. */
export function addressOfService(address: string, service: { namespace: string; name: string }): IPAddress {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: {
      name: address,
      labels: { [FAMILY_LABEL]: `IPv${parseAddress(address)?.family ?? 4}`, [MANAGER_LABEL]: ALLOCATOR },
    },
    spec: { parentRef: { resource: "services", ...service } },
  };
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(IPAddress, "networking-v1", { validate: checkAddressObject }),
];
