/** IPAddress: defaults and validation, loaded when the first object is written. */
import {
  builtInAdmission,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  field,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { ParentReference } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { checkReferenceName } from "../ingressclass/ingressclass-rules.ts";
import { IPAddress } from "./ip-address.ts";

function checkParent(at: string, parent: Sent<ParentReference> | undefined): FieldError[] {
  if (!parent) return [field.required(at)];
  const { group, resource = "", namespace, name = "" } = parent;
  return [
    // Services are in the core group, which has no name.
    ...(group ? checkText(`${at}.group`, group, dnsSubdomainProblems) : []),
    ...checkReferenceName(`${at}.resource`, resource),
    ...checkReferenceName(`${at}.name`, name),
    ...(namespace ? checkText(`${at}.namespace`, namespace, pathSegmentProblems) : []),
  ];
}

function checkAddressObject({ object, oldObject }: Review<IPAddress>): FieldError[] {
  const at = "spec.parentRef";
  const parent = object.spec?.parentRef;
  const errors = checkParent(at, parent);
  return oldObject ? [...errors, ...checkUnchanged(at, parent, oldObject.spec?.parentRef)] : errors;
}

export const ipAddressRules = builtInAdmission(IPAddress, "networking-v1", { validate: checkAddressObject });
