/**
 * Writes X.509 certificates (RFC 5280): P-256 keys, signed with ECDSA and SHA-256. Node parses and verifies them; only
 * the issuer's name is read here, byte for byte, because issuer and subject must compare equal.
 */
import { X509Certificate, createHash, createPublicKey, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { partsOf } from "./certificate-parts.ts";
import { derItems, readDer } from "./der-reader.ts";
import { der } from "./der-writer.ts";
import { writePem } from "./pem.ts";

/** In the order in which they are written. */
export type DistinguishedName = readonly { attribute: keyof typeof ATTRIBUTES; value: string }[];

export interface CertificateContents {
  subject: DistinguishedName;
  publicKey: KeyObject;
  notBeforeMs: number;
  notAfterMs: number;
  /** Unset creates a self-signed authority. */
  issuer?: { certificate: string; usage: "serverAuth" | "clientAuth"; hosts?: readonly string[] };
  /** The key of the issuer, or of the authority itself. */
  signingKey: KeyObject;
}

const ATTRIBUTES = { CN: "2.5.4.3", O: "2.5.4.10" } as const;
const USAGES = { serverAuth: "1.3.6.1.5.5.7.3.1", clientAuth: "1.3.6.1.5.5.7.3.2" } as const;
export const EXTENSION = {
  subjectKey: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeNames: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKey: "2.5.29.35",
  extendedUsage: "2.5.29.37",
} as const;
const ECDSA_SHA256 = der.sequence(der.identifier("1.2.840.10045.4.3.2"));
const VERSION_3 = der.tagged(0xa0, der.integer(Buffer.from([2])));
/** The bits, from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const SIGNS = der.bits(Buffer.from([0b1000_0000]), 7);
const SIGNS_CERTIFICATES = der.bits(Buffer.from([0b1000_0110]), 1);

/** PEM. */
export function writeCertificate(contents: CertificateContents): string {
  const { subject, publicKey, notBeforeMs, notAfterMs, issuer, signingKey } = contents;
  const name = nameOf(subject);
  const publicBytes = publicKey.export({ type: "spki", format: "der" });
  const issuing = issuer && new X509Certificate(issuer.certificate);
  const extensions =
    issuer && issuing ? leafExtensions(issuing, issuer.usage, issuer.hosts) : authorityExtensions(publicBytes);
  return assembleCertificate({
    issuerName: issuing ? subjectBytes(issuing) : name,
    name,
    publicBytes,
    notBeforeMs,
    notAfterMs,
    extensions,
    signingKey,
  });
}

/** Assembles and signs the DER parts of a certificate; returns PEM. */
export function assembleCertificate(parts: {
  issuerName: Uint8Array;
  name: Uint8Array;
  publicBytes: Uint8Array;
  notBeforeMs: number;
  notAfterMs: number;
  extensions: readonly Uint8Array[];
  signingKey: KeyObject;
}): string {
  const { issuerName, name, publicBytes, notBeforeMs, notAfterMs, extensions, signingKey } = parts;
  const contents = der.sequence(
    VERSION_3,
    der.integer(serialNumber()),
    ECDSA_SHA256,
    issuerName,
    der.sequence(der.time(notBeforeMs), der.time(notAfterMs)),
    name,
    publicBytes,
    der.tagged(0xa3, der.sequence(...extensions)),
  );
  return writePem("CERTIFICATE", der.sequence(contents, ECDSA_SHA256, der.bits(sign("sha256", contents, signingKey))));
}

function authorityExtensions(publicBytes: Uint8Array): Buffer[] {
  return [
    extension(EXTENSION.basicConstraints, der.sequence(der.boolean(true)), true),
    extension(EXTENSION.keyUsage, SIGNS_CERTIFICATES, true),
    extension(EXTENSION.subjectKey, der.bytes(keyIdentifier(publicBytes))),
  ];
}

function leafExtensions(
  issuing: X509Certificate,
  usage: keyof typeof USAGES,
  hosts: readonly string[] | undefined,
): Buffer[] {
  return [
    extension(EXTENSION.basicConstraints, der.sequence(), true),
    extension(EXTENSION.keyUsage, SIGNS, true),
    extension(EXTENSION.extendedUsage, der.sequence(der.identifier(USAGES[usage]))),
    authorityKey(issuing),
    ...(hosts ? [extension(EXTENSION.alternativeNames, der.sequence(...hosts.map(alternativeName)))] : []),
  ];
}

/** Identifies the key that signed the certificate. */
export function authorityKey(issuing: X509Certificate): Buffer {
  const key = createPublicKey(issuing.publicKey.export({ type: "spki", format: "pem" })).export({
    type: "spki",
    format: "der",
  });
  return extension(EXTENSION.authorityKey, der.sequence(der.tagged(0x80, keyIdentifier(key))));
}

/** The critical flag is written only when true: false is the default, and DER omits defaults. */
export function extension(identifier: string, value: Uint8Array, critical = false): Buffer {
  return der.sequence(der.identifier(identifier), ...(critical ? [der.boolean(true)] : []), der.bytes(value));
}

function nameOf(name: DistinguishedName): Buffer {
  return der.sequence(
    ...name.map(({ attribute, value }) =>
      der.set(der.sequence(der.identifier(ATTRIBUTES[attribute]), der.utf8(value))),
    ),
  );
}

function alternativeName(host: string): Buffer {
  if (isIPv4(host)) return der.tagged(0x87, Buffer.from(host.split(".").map(Number)));
  return isIPv6(host) ? der.tagged(0x87, addressBytes(host)) : der.tagged(0x82, Buffer.from(host));
}

/** The sixteen bytes of an IPv6 address in any notation: URL parsing normalizes it to hexadecimal groups. */
function addressBytes(host: string): Buffer {
  const [before = "", after] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const head = groupsOf(before);
  const tail = groupsOf(after ?? "");
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** RFC 5280, 4.2.1.2: the SHA-1 of the key's bits, used as an identifier and not for security. */
function keyIdentifier(publicBytes: Uint8Array): Buffer {
  const [, bits] = derItems(readDer(publicBytes));
  return createHash("sha1")
    .update((bits?.content ?? publicBytes).subarray(1))
    .digest();
}

/** The subject of a certificate in DER. */
export function subjectBytes(certificate: X509Certificate): Uint8Array {
  return partsOf(certificate).subject.whole;
}

/** 127 random bits: positive and unique. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
