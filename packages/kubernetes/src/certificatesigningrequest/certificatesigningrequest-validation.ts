/** Validates a CertificateSigningRequest as Kubernetes does. The spec is immutable and validated once. */
import { X509Certificate } from "node:crypto";
import type { DeepReadonly } from "@flotilla/base";
import { CertificateRequestError, field, parseCertificateRequest, pemBlocks } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
} from "@flotilla/apimachinery/facts/certificates-v1.ts";
import { checkSignerName } from "./signer-names.ts";
import { KEY_USAGES, isKeyUsage } from "./usages.ts";

type Read = DeepReadonly<CertificateSigningRequest>;
type Conditions = NonNullable<NonNullable<Read["status"]>["conditions"]>;

const CONDITIONS = "status.conditions";
const CERTIFICATE = "status.certificate";
const MIN_SECONDS = 600;
/** These conditions can only be True; a request is not "not approved" but denied. */
const ONLY_TRUE = new Set(["Approved", "Denied", "Failed"]);
const DECISIONS = ["Approved", "Denied"];
const STATUSES = ["False", "True", "Unknown"];

export function checkNewRequest({ spec }: Read): FieldError[] {
  const {
    request = "",
    usages = [],
    signerName = "",
    expirationSeconds,
  } = (spec ?? {}) as Sent<CertificateSigningRequestSpec>;
  const problem = problemOf(() => parseCertificateRequest(request), CertificateRequestError);
  const seen = new Set<string>();
  return [
    ...(problem === undefined ? [] : [field.invalid("spec.request", request === "" ? undefined : request, problem)]),
    ...(usages.length === 0 ? [field.required("spec.usages")] : []),
    ...usages.flatMap((usage, index) =>
      isKeyUsage(usage) ? [] : [field.notSupported(`spec.usages[${index}]`, usage, KEY_USAGES)],
    ),
    ...usages.flatMap((usage, index) =>
      seen.size < seen.add(usage).size ? [] : [field.duplicate(`spec.usages[${index}]`, usage)],
    ),
    ...checkSignerName("spec.signerName", signerName),
    ...(expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS
      ? [
          field.invalid(
            "spec.expirationSeconds",
            expirationSeconds,
            `may not specify a duration less than ${MIN_SECONDS} seconds (10 minutes)`,
          ),
        ]
      : []),
  ];
}

/**
 * A status update cannot approve or deny, and an `approval` update cannot set a certificate. Invalid stored values may
 * be kept.
 */
export function checkChange(
  { status = {} }: Read,
  { status: stored = {} }: Read,
  subresource: string | undefined,
): FieldError[] {
  const conditions = status.conditions ?? [];
  const old = stored.conditions ?? [];
  const errors = checkConditions(conditions, old);
  const certificate = status.certificate ?? "";
  const before = stored.certificate ?? "";
  if (certificate !== before && certificateProblem(before) === undefined) {
    const problem = certificateProblem(certificate);
    if (problem !== undefined) errors.push(field.invalid(CERTIFICATE, "<certificate data>", problem));
  }
  for (const type of ONLY_TRUE)
    if (count(conditions, type) < count(old, type))
      errors.push(field.forbidden(CONDITIONS, `updates may not remove a condition of type ${JSON.stringify(type)}`));
  if (subresource !== "approval")
    for (const type of DECISIONS)
      if (count(conditions, type) > count(old, type))
        errors.push(field.forbidden(CONDITIONS, `updates may not add a condition of type ${JSON.stringify(type)}`));
  if (certificate !== before) {
    if (subresource !== "status") errors.push(field.forbidden(CERTIFICATE, "updates may not set certificate content"));
    else if (before !== "")
      errors.push(field.forbidden(CERTIFICATE, "updates may not modify existing certificate content"));
  }
  return errors;
}

function checkConditions(conditions: Conditions, old: Conditions): FieldError[] {
  const mayBeBoth = count(old, "Approved") > 0 && count(old, "Denied") > 0;
  const mayRepeat = new Set(old.map(({ type }) => type)).size < old.length;
  const mayBeNameless = old.some(({ type }) => !type);
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type = "", status = "" }] of (conditions as Sent<Conditions>).entries()) {
    const at = `${CONDITIONS}[${index}]`;
    if (type === "" && !mayBeNameless) errors.push(field.required(`${at}.type`));
    const allowed = ONLY_TRUE.has(type) ? ["True"] : STATUSES;
    if (status === "") errors.push(field.required(`${at}.status`));
    else if (!allowed.includes(status)) errors.push(field.notSupported(`${at}.status`, status, allowed));
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (!mayBeBoth && other !== undefined && seen.has(other))
      errors.push(field.invalid(CONDITIONS, type, "Approved and Denied conditions are mutually exclusive"));
    if (!mayRepeat && seen.has(type)) errors.push(field.duplicate(`${at}.type`, type));
    seen.add(type);
  }
  return errors;
}

const count = (conditions: Conditions, wanted: string): number =>
  conditions.filter(({ type }) => type === wanted).length;

/** Explains why the text is not a certificate. An empty text is valid: no certificate was issued yet. */
function certificateProblem(certificate: string): string | undefined {
  if (certificate === "") return undefined;
  let blocks = 0;
  for (const { label, hasHeaders, bytes } of pemBlocks(Buffer.from(certificate, "base64").toString("latin1"))) {
    if (label !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
    const problem = problemOf(() => new X509Certificate(bytes), Error);
    if (problem !== undefined) return `failed to parse the certificate: ${problem}`;
    blocks++;
  }
  return blocks === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

/** Returns the message of an expected read error. */
function problemOf(read: () => unknown, expected: new (...details: never[]) => Error): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    return error.message;
  }
}
