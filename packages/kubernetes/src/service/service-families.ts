/**
 * Validates and defaults the IP families of a Service. Clusters here have one family, IPv4; a headless Service without
 * selector may name both, because its endpoints are provided externally.
 */
import { equalJson } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import { checkAddress, isIPv6Text } from "../networking/addresses.ts";
import { NO_ADDRESS, isHeadless, withFields, type Spec } from "./service-fields.ts";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];
/** The IP family of cluster addresses. */
const CLUSTER_FAMILY = "IPv4";

const ADDRESSES = "spec.clusterIPs";
const POLICY = "spec.ipFamilyPolicy";
const familyOf = (address: string): string => (isIPv6Text(address) ? "IPv6" : "IPv4");

/** The rules between `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`. */
export function checkFamilies(spec: Spec, old: Spec | undefined): FieldError[] {
  if (spec.type === "ExternalName") return [];
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP !== "") {
    if (clusterIPs.length === 0) errors.push(field.required(ADDRESSES));
    else if (clusterIPs[0] !== clusterIP)
      errors.push(field.invalid(ADDRESSES, clusterIPs, "first value must match `clusterIP`"));
  } else if (clusterIPs.length > 0)
    errors.push(field.invalid(ADDRESSES, clusterIPs, "must be empty when `clusterIP` is not specified"));
  for (const [index, family] of ipFamilies.entries()) {
    if (!FAMILIES.includes(family)) errors.push(field.notSupported(`spec.ipFamilies[${index}]`, family, FAMILIES));
    if (ipFamilies.indexOf(family) < index) errors.push(field.duplicate(`spec.ipFamilies[${index}]`, family));
  }
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy))
    errors.push(field.notSupported(POLICY, ipFamilyPolicy, POLICIES));

  const addressErrors = checkAddresses(clusterIPs, old?.clusterIPs ?? []);
  errors.push(...addressErrors);
  if (clusterIPs.length > 2) errors.push(field.invalid(ADDRESSES, clusterIPs, "may only hold up to 2 values"));
  // An invalid address has no family.
  if (addressErrors.length > 0) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2)
    errors.push(field.invalid(ADDRESSES, clusterIPs, "may specify no more than one IP for each IP family"));
  if (!isHeadless(spec)) {
    for (const [index, address] of clusterIPs.entries()) {
      const family = ipFamilies[index];
      if ((family === "IPv4" || family === "IPv6") && family !== familyOf(address))
        errors.push(
          field.invalid(
            `${ADDRESSES}[${index}]`,
            address,
            `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
          ),
        );
    }
  }
  return errors;
}

function checkAddresses(addresses: readonly string[], known: readonly string[]): FieldError[] {
  return addresses.flatMap((address, index) => {
    if (index > 0 || address !== NO_ADDRESS) return checkAddress(`${ADDRESSES}[${index}]`, address, known);
    return addresses.length > 1 ? [field.invalid(ADDRESSES, addresses, "'None' must be the first and only value")] : [];
  });
}

/** Returns the spec with families and policy defaulted, or the errors in the given ones. */
export function completeFamilies(spec: Spec, old: Spec | undefined): { spec: Spec; errors: FieldError[] } {
  if (spec.type === "ExternalName" || (old && keepsPreferredStacks(spec, old))) return { spec, errors: [] };
  const isOpen = spec.clusterIP === NO_ADDRESS && Object.keys(spec.selector ?? {}).length === 0;
  let result: Spec = withFields(spec, {
    ipFamilyPolicy: spec.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? (isOpen ? "RequireDualStack" : "SingleStack"),
  });
  let errors = checkFamilies(result, old);
  if (errors.length > 0) return { spec, errors };

  if (old) ({ spec: result, errors } = releaseSecond(result, old));
  if (result.ipFamilyPolicy === "SingleStack") {
    if (result.clusterIPs?.length === 2)
      errors.push(
        field.invalid(
          POLICY,
          result.ipFamilyPolicy,
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
        ),
      );
    if (result.ipFamilies?.length === 2)
      errors.push(
        field.invalid(
          POLICY,
          result.ipFamilyPolicy,
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        ),
      );
  }
  const inferred = [...(result.ipFamilies ?? [])];
  for (const [index, address] of (result.clusterIPs ?? []).entries()) {
    if (address === NO_ADDRESS) break;
    if (index < inferred.length) continue;
    const family = familyOf(address);
    if (family === CLUSTER_FAMILY) inferred.push(family);
    else
      errors.push(
        field.invalid(`${ADDRESSES}[${index}]`, result.clusterIPs, `${family} is not configured on this cluster`),
      );
  }
  if (errors.length > 0) return { spec, errors };
  if (isOpen) return { spec: withFields(result, { ipFamilies: openFamilies(inferred, result) }), errors };

  if (result.ipFamilyPolicy === "RequireDualStack")
    errors.push(field.invalid(POLICY, result.ipFamilyPolicy, "this cluster is not configured for dual-stack services"));
  for (const [index, family] of inferred.entries())
    if (family !== CLUSTER_FAMILY)
      errors.push(field.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster"));
  if (errors.length > 0) return { spec, errors };
  return { spec: withFields(result, { ipFamilies: inferred.length > 0 ? inferred : [CLUSTER_FAMILY] }), errors };
}

/** A Service that prefers dual stack keeps its families until an update requests a change. */
function keepsPreferredStacks(spec: Spec, old: Spec): boolean {
  const policy = (value: Spec): string => value.ipFamilyPolicy ?? "";
  if (old.type !== spec.type || policy(old) !== "PreferDualStack" || policy(spec) !== "PreferDualStack") return false;
  return (
    (spec.clusterIP ?? "") === (old.clusterIP ?? "") &&
    equalJson(spec.clusterIPs ?? [], old.clusterIPs ?? []) &&
    equalJson(spec.ipFamilies ?? [], old.ipFamilies ?? [])
  );
}

/** SingleStack releases the secondary address and family; omitting them without requesting SingleStack does not. */
function releaseSecond(spec: Spec, old: Spec): { spec: Spec; errors: FieldError[] } {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const { clusterIPs: oldAddresses = [], ipFamilies: oldFamilies = [] } = old;
  if (ipFamilyPolicy === "SingleStack") {
    let result = spec;
    if (clusterIPs.length > 1 && equalJson(clusterIPs, oldAddresses))
      result = withFields(result, { clusterIPs: clusterIPs.slice(0, 1) });
    if (ipFamilies.length > 1 && equalJson(ipFamilies, oldFamilies))
      result = withFields(result, { ipFamilies: ipFamilies.slice(0, 1) });
    return { spec: result, errors: [] };
  }
  const errors: FieldError[] = [];
  if (clusterIPs.length > 0 && clusterIPs.length < oldAddresses.length)
    errors.push(field.invalid(POLICY, ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP"));
  if (ipFamilies.length > 0 && ipFamilies.length < oldFamilies.length)
    errors.push(field.invalid(POLICY, ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family"));
  return { spec, errors };
}

function openFamilies(families: readonly string[], { ipFamilyPolicy }: Spec): string[] {
  const [first = CLUSTER_FAMILY] = families;
  if (families.length > 1 || ipFamilyPolicy === "SingleStack") return families.length > 0 ? [...families] : [first];
  return [first, first === "IPv4" ? "IPv6" : "IPv4"];
}

/** An allocated address is immutable: clients may depend on it. */
export function checkAddressesKept(spec: Spec, old: Spec): FieldError[] {
  if (spec.type === "ExternalName" || old.type === "ExternalName" || (isHeadless(spec) && isHeadless(old))) return [];
  const { clusterIPs: addresses = [], ipFamilyPolicy } = spec;
  const { clusterIPs: before = [] } = old;
  const changed = (index: number): FieldError =>
    field.invalid(`${ADDRESSES}[${index}]`, spec.clusterIPs, "may not change once set");
  if (addresses.length === before.length)
    return before.flatMap((address, index) => (address === addresses[index] ? [] : [changed(index)]));
  const errors: FieldError[] = [];
  if (addresses.length === 0)
    errors.push(field.invalid(`${ADDRESSES}[0]`, spec.clusterIPs, "primary clusterIP can not be unset"));
  if (addresses.length > 0 && before.length > 0 && addresses[0] !== before[0]) errors.push(changed(0));
  if (addresses.length < before.length && addresses.length === 1 && ipFamilyPolicy !== "SingleStack") {
    errors.push(
      field.invalid(POLICY, ipFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP"),
    );
  }
  return errors;
}

export function checkFamiliesKept(spec: Spec, old: Spec): FieldError[] {
  if (spec.type === "ExternalName" || old.type === "ExternalName" || isHeadless(spec) || isHeadless(old)) return [];
  const { ipFamilies: families = [], clusterIPs: addresses = [], ipFamilyPolicy } = spec;
  const { ipFamilies: before = [] } = old;
  const at = "spec.ipFamilies[0]";
  if (families.length === before.length)
    return before.flatMap((family, index) =>
      family === families[index] ? [] : [field.invalid(at, families, "may not change once set")],
    );
  const errors: FieldError[] = [];
  if (families.length < before.length && addresses.length === 0)
    errors.push(field.invalid(at, spec.ipFamilies, "primary ipFamily can not be unset"));
  if (families.length > 0 && before.length > 0 && families[0] !== before[0])
    errors.push(field.invalid(at, spec.clusterIPs, "may not change once set"));
  if (families.length < before.length && families.length === 1 && ipFamilyPolicy !== "SingleStack") {
    errors.push(
      field.invalid(POLICY, ipFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily"),
    );
  }
  return errors;
}
