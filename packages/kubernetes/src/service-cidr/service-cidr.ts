/** ServiceCIDR: ranges from which Services get their addresses. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInAdmission, builtInKind, column, field, nameColumn } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind, Review } from "@flotilla/apimachinery";
import type { ServiceCIDR as ServiceCIDRFacts } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { checkCanonicalNetwork, familyOfNetwork, parseNetwork } from "../networking/addresses.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ServiceCIDR = ServiceCIDRFacts;

export const ServiceCIDR: Kind<ServiceCIDR> = builtInKind<ServiceCIDR>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  scope: "Cluster",
  facts: "networking-v1",
  columns: [nameColumn, column<ServiceCIDR>("CIDRs", ({ spec }) => (spec?.cidrs ?? []).join(",")), ageColumn],
  subresources: { status: true },
  traits: { statusKeepsMetadata: true },
});

const AT = "spec.cidrs";
const MAX_RANGES = 2;

function checkRanges(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [field.required(AT, "at least one CIDR required")];
  if (ranges.length > MAX_RANGES) return [field.invalid(AT, ranges, "may only hold up to 2 values")];
  const errors = ranges.flatMap((range, index) => checkCanonicalNetwork(`${AT}[${index}]`, range));
  const [first, second] = ranges.map(familyOfNetwork);
  if (ranges.length === MAX_RANGES && first !== undefined && first === second) {
    errors.push(
      field.invalid(
        AT,
        ranges,
        "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
      ),
    );
  }
  return errors;
}

const IMMUTABLE = "field is immutable";

/** A CIDR of the other IP family may be added; other changes are rejected. */
function checkChange(ranges: readonly string[], before: readonly string[]): FieldError[] {
  const changed = (index: number): FieldError[] =>
    ranges[index] === before[index] ? [] : [field.invalid(`${AT}[${index}]`, ranges[index], IMMUTABLE)];
  if (ranges.length === before.length) return ranges.flatMap((_, index) => changed(index));
  if (before.length === 1 && ranges.length === MAX_RANGES) return [...changed(0), ...checkRanges(ranges)];
  return [field.invalid(AT, ranges, IMMUTABLE)];
}

function checkServiceRange({ object, oldObject }: Review<ServiceCIDR>): FieldError[] {
  const ranges = rangesOf(object);
  return oldObject ? checkChange(ranges, rangesOf(oldObject)) : checkRanges(ranges);
}

const rangesOf = ({ spec }: DeepReadonly<ServiceCIDR>): readonly string[] => spec?.cidrs ?? [];

/** The initial range of every cluster. */
export const DEFAULT_SERVICE_CIDR = "kubernetes";

export function defaultServiceCidr(range: string, since: string): ServiceCIDR {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: DEFAULT_SERVICE_CIDR },
    spec: { cidrs: [range] },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "",
          message: "Kubernetes default Service CIDR is ready",
          lastTransitionTime: since,
        },
      ],
    },
  };
}

/** The IPv4 ranges from which addresses may be allocated: none of a range that is being deleted or not ready. */
export function usableRanges(
  object: DeepReadonly<ServiceCIDR>,
): { address: readonly number[]; prefixLength: number }[] {
  const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
  if (object.metadata.deletionTimestamp !== undefined || (ready && ready.status !== "True")) return [];
  return rangesOf(object).flatMap((text) => {
    const network = parseNetwork(text);
    return network?.address.family === 4
      ? [{ address: network.address.bytes, prefixLength: network.prefixLength }]
      : [];
  });
}

export const rules: AnyAdmission[] = [builtInAdmission(ServiceCIDR, "networking-v1", { validate: checkServiceRange })];

export const serviceCidr = defineKind({
  kind: ServiceCIDR,
  rules,
  example: exampleOf(ServiceCIDR, { spec: { cidrs: ["192.168.0.0/24"] } }),
});
