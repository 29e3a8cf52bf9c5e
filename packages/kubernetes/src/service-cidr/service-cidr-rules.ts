/** ServiceCIDR: defaults and validation, loaded when the first object is written. */
import { builtInAdmission, field } from "@flotilla/apimachinery";
import type { FieldError, Review } from "@flotilla/apimachinery";
import { checkCanonicalNetwork, familyOfNetwork } from "../networking/addresses.ts";
import { ServiceCIDR, rangesOf } from "./service-cidr.ts";

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

export const serviceCidrRules = builtInAdmission(ServiceCIDR, "networking-v1", { validate: checkServiceRange });
