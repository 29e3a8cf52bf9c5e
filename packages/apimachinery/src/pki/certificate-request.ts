/**
 * Parses a certificate request (PKCS #10, RFC 2986): the requested subject and the key to be certified, signed with
 * that key. Requests are untrusted, so all reads are bounded, and a request that is not fully understood is rejected:
 * the certificate contains exactly what was parsed here.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { FlotillaError } from "@flotilla/base";
import { createNames, type AlternativeNames } from "./alternative-names.ts";
import { readExtensions } from "./certificate-extensions.ts";
import {
  checkNesting,
  DER,
  DerError,
  derItems,
  expectDer,
  identifierOf,
  readDer,
  wholeBits,
  type DerValue,
} from "./der-reader.ts";
import { isText, textOf } from "./der-strings.ts";
import { attributesOf } from "./distinguished-name.ts";
import { pemBlocks } from "./pem.ts";
import { isSignedWith } from "./request-signature.ts";

/** Subject attributes, each with its values in the order in which they were written. Other attributes are dropped. */
export type SubjectAttribute = "C" | "O" | "OU" | "L" | "ST" | "STREET" | "POSTAL" | "CN" | "SERIAL";
export type RequestSubject = Readonly<Partial<Record<SubjectAttribute, readonly string[]>>>;

export interface CertificateRequest extends AlternativeNames {
  /** The user name; the last one when there are several. */
  commonName: string;
  /** The user's groups. */
  organizations: readonly string[];
  subject: RequestSubject;
  publicKey: KeyObject;
}

/** An error in a request, reported to its sender. */
export class CertificateRequestError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("CertificateRequest", message, options);
  }
}

/** A typical request has one or two kilobytes; this leaves room for a thousand names. */
export const MAX_REQUEST_BYTES = 64 * 1024;
const MAX_RSA_BITS = 8192;
const MIN_RSA_BITS = 1024;
const MAX_RSA_EXPONENT = 2n ** 31n - 1n;
const CURVES = new Set(["secp224r1", "prime256v1", "secp384r1", "secp521r1"]);
const ATTRIBUTES: Readonly<Record<string, SubjectAttribute>> = {
  "2.5.4.6": "C",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "STREET",
  "2.5.4.17": "POSTAL",
  "2.5.4.3": "CN",
  "2.5.4.5": "SERIAL",
};
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const LABEL = "CERTIFICATE REQUEST";

/**
 * Parses `spec.request`, base64 of PEM, and checks that it was signed with the key that it certifies. Throws
 * CertificateRequestError.
 */
export function parseCertificateRequest(request: string): CertificateRequest {
  if (request.length > (MAX_REQUEST_BYTES * 4) / 3)
    throw new CertificateRequestError(`the request is longer than ${MAX_REQUEST_BYTES} bytes`);
  const [block] = pemBlocks(Buffer.from(request, "base64").toString("latin1"));
  if (block?.label !== LABEL) throw new CertificateRequestError(`PEM block type must be ${LABEL}`);
  try {
    return readRequest(block.bytes);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    throw new CertificateRequestError(`the certificate request cannot be read: ${error.message}`, { cause: error });
  }
}

function readRequest(bytes: Uint8Array): CertificateRequest {
  const [contents, algorithm, signature] = derItems(expectDer(readDer(bytes), DER.sequence, "the request"));
  const signed = expectDer(contents, DER.sequence, "its content");
  const [version, name, key, attributes] = derItems(signed);
  if (expectDer(version, DER.integer, "the version").content.length !== 1 || version?.content[0] !== 0)
    throw new DerError("only version 1 is supported");
  const publicKey = readKey(expectDer(key, DER.sequence, "the public key"));
  if (
    !isSignedWith(
      publicKey,
      expectDer(algorithm, DER.sequence, "the algorithm"),
      signed.whole,
      wholeBits(expectDer(signature, DER.bits, "the signature"), "the signature"),
    )
  ) {
    throw new CertificateRequestError("the certificate request is not signed with its own key");
  }
  const subject = readSubject(expectDer(name, DER.sequence, "the subject"));
  return {
    commonName: subject.CN?.at(-1) ?? "",
    organizations: subject.O ?? [],
    subject,
    ...readNames(attributes),
    publicKey,
  };
}

function readKey({ whole }: DerValue): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(whole), format: "der", type: "spki" });
  } catch (error) {
    throw new CertificateRequestError("the public key of the certificate request cannot be read", { cause: error });
  }
  const { modulusLength = 0, publicExponent = 0n, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType;
  if (type === "rsa" && (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS))
    throw new CertificateRequestError(`an RSA key has ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, not ${modulusLength}`);
  if (type === "rsa" && publicExponent > MAX_RSA_EXPONENT)
    throw new CertificateRequestError("the public exponent of the RSA key is too large");
  if (type === "ec" && !CURVES.has(namedCurve))
    throw new CertificateRequestError(`keys on the curve ${JSON.stringify(namedCurve)} are not supported`);
  if (type !== "rsa" && type !== "ec" && type !== "ed25519")
    throw new CertificateRequestError(`keys of type ${JSON.stringify(type ?? "")} are not supported`);
  return key;
}

function readSubject(name: DerValue): RequestSubject {
  const subject: Partial<Record<SubjectAttribute, string[]>> = {};
  for (const { type, value } of attributesOf(name, "the subject")) {
    const attribute = Object.hasOwn(ATTRIBUTES, type) ? ATTRIBUTES[type] : undefined;
    if (attribute) (subject[attribute] ??= []).push(subjectText(value));
    else if (isText(value)) textOf(value, "a subject string");
  }
  return subject;
}

/** Decodes the common string types; an ambiguous encoding is rejected, because it could name another user. */
function subjectText(value: DerValue): string {
  if (value.content.some((byte) => byte < 0x20 || byte === 0x7f))
    throw new DerError("a subject string contains control characters");
  if (value.tag === DER.teletex || value.tag === DER.bmp)
    throw new DerError("a subject string has an unsupported type; encode it as UTF-8");
  return textOf(value, "a subject string");
}

/** The requested subject alternative names. Other requested extensions are only checked: usages are in the spec. */
function readNames(attributes: DerValue | undefined): AlternativeNames {
  let names: AlternativeNames | undefined;
  const list = attributes ? derItems(expectDer(attributes, 0xa0, "the list of attributes")) : [];
  for (const attribute of list) {
    checkNesting(attribute);
    const [type, values, ...rest] = derItems(expectDer(attribute, DER.sequence, "an attribute"));
    const identifier = identifierOf(expectDer(type, DER.identifier, "the type of an attribute"));
    const [extensions] = derItems(expectDer(values, DER.set, "the values of an attribute"));
    if (rest.length > 0) throw new DerError("an attribute has too many parts");
    if (identifier !== EXTENSION_REQUEST) continue;
    if (names) throw new DerError("extensions are requested twice");
    names = readExtensions(expectDer(extensions, DER.sequence, "the requested extensions")).names;
  }
  return names ?? createNames();
}
