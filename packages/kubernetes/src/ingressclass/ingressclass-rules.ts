/** Defaults and validation of IngressClass. */
import {
  builtInAdmission,
  change,
  checkText,
  checkUnchanged,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import type { IngressClassParametersReference, IngressClassSpec } from "@flotilla/apimachinery/facts/networking-v1.ts";
import { IngressClass } from "./ingressclass-kind.ts";

const MAX_CONTROLLER_BYTES = 250;
const SCOPES = ["Cluster", "Namespace"];
const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH_PATTERN = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function checkSpec({ controller = "", parameters }: Sent<IngressClassSpec>): FieldError[] {
  const at = "spec.controller";
  return [
    ...(Buffer.byteLength(controller) > MAX_CONTROLLER_BYTES ? [field.tooLong(at, MAX_CONTROLLER_BYTES)] : []),
    ...checkController(at, controller),
    ...(parameters ? checkParameters("spec.parameters", parameters) : []),
  ];
}

/** A domain followed by a path. */
function checkController(at: string, text: string): FieldError[] {
  if (text === "") return [field.required(at)];
  const slash = text.indexOf("/");
  const path = text.slice(slash + 1);
  if (slash <= 0 || path === "")
    return [field.invalid(at, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [
    ...checkText(at, text.slice(0, slash), dnsSubdomainProblems),
    ...(PATH_PATTERN.test(path)
      ? []
      : [field.invalid(at, path, `Invalid path (regex used for validation is '${PATH}')`)]),
  ];
}

function checkParameters(at: string, sent: Sent<IngressClassParametersReference>): FieldError[] {
  const { apiGroup, kind = "", name = "", scope, namespace } = sent;
  const errors = apiGroup === undefined ? [] : checkText(`${at}.apiGroup`, apiGroup, dnsSubdomainProblems);
  errors.push(...checkReferenceName(`${at}.kind`, kind), ...checkReferenceName(`${at}.name`, name));
  if (scope === undefined) return [...errors, field.required(`${at}.scope`)];
  if (!SCOPES.includes(scope)) return [...errors, field.notSupported(`${at}.scope`, scope, SCOPES)];
  if (scope === "Cluster")
    return namespace === undefined
      ? errors
      : [...errors, field.forbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'")];
  return [
    ...errors,
    ...(namespace === undefined
      ? [field.required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'")]
      : checkText(`${at}.namespace`, namespace, dnsLabelProblems)),
  ];
}

/** Kind or name of a referenced object. */
export function checkReferenceName(path: string, name: string): FieldError[] {
  return name === "" ? [field.required(path)] : checkText(path, name, pathSegmentProblems);
}

export const rules: AnyAdmission[] = [
  builtInAdmission(IngressClass, "networking-v1", {
    complete: (ingressClass) =>
      change(ingressClass, "spec", (spec) =>
        change(spec, "parameters", (parameters) => fill(parameters, { scope: "Cluster" })),
      ),
    validate: ({ object: { spec = {} }, oldObject }) => [
      ...(oldObject ? checkUnchanged("spec.controller", spec.controller ?? "", oldObject.spec?.controller ?? "") : []),
      ...checkSpec(spec),
    ],
  }),
];
