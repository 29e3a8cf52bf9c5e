/**
 * Writes an X.509 certificate (RFC 5280): P-256 keys, signed with ECDSA and SHA-256. Reading and checking them is Node's own
 * work; of an issuer only its name is taken here, byte for byte, because the two must compare equal.
 */
import { X509Certificate, createHash, createPublicKey, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { der, derChildren, derContent } from "./der.ts";

/** In the order in which they are written. */
export type DistinguishedName = readonly { attribute: keyof typeof ATTRIBUTES; value: string }[];

export interface CertificateContents {
  subject: DistinguishedName;
  publicKey: KeyObject;
  notBeforeMs: number;
  notAfterMs: number;
  /** Unset makes an authority that vouches for itself. */
  issuer?: { certificate: string; usage: "serverAuth" | "clientAuth"; hosts?: readonly string[] };
  /** The issuer's, or the authority's own. */
  signingKey: KeyObject;
}

const ATTRIBUTES = { CN: "2.5.4.3", O: "2.5.4.10" } as const;
const USAGES = { serverAuth: "1.3.6.1.5.5.7.3.1", clientAuth: "1.3.6.1.5.5.7.3.2" } as const;
const EXTENSION = { subjectKey: "2.5.29.14", keyUsage: "2.5.29.15", alternativeNames: "2.5.29.17", basicConstraints: "2.5.29.19", authorityKey: "2.5.29.35", extendedUsage: "2.5.29.37" } as const;
const ECDSA_SHA256 = der.sequence(der.identifier("1.2.840.10045.4.3.2"));
const VERSION_3 = der.tagged(0xa0, der.integer(Buffer.from([2])));
/** The bits, from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const SIGNS = der.bits(Buffer.from([0b1000_0000]), 7);
const SIGNS_CERTIFICATES = der.bits(Buffer.from([0b1000_0110]), 1);

/** PEM. */
export function writeCertificate({ subject, publicKey, notBeforeMs, notAfterMs, issuer, signingKey }: CertificateContents): string {
  const name = nameOf(subject);
  const publicBytes = publicKey.export({ type: "spki", format: "der" });
  const issuing = issuer && new X509Certificate(issuer.certificate);
  const extensions = issuer && issuing ? leafExtensions(issuing, issuer.usage, issuer.hosts) : authorityExtensions(publicBytes);
  const contents = der.sequence(
    VERSION_3,
    der.integer(serialNumber()),
    ECDSA_SHA256,
    issuing ? subjectBytes(issuing) : name,
    der.sequence(der.time(notBeforeMs), der.time(notAfterMs)),
    name,
    publicBytes,
    der.tagged(0xa3, der.sequence(...extensions)),
  );
  return pem("CERTIFICATE", der.sequence(contents, ECDSA_SHA256, der.bits(sign("sha256", contents, signingKey))));
}

export function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function authorityExtensions(publicBytes: Uint8Array): Buffer[] {
  return [
    extension(EXTENSION.basicConstraints, der.sequence(der.boolean(true)), true),
    extension(EXTENSION.keyUsage, SIGNS_CERTIFICATES, true),
    extension(EXTENSION.subjectKey, der.bytes(keyIdentifier(publicBytes))),
  ];
}

function leafExtensions(issuing: X509Certificate, usage: keyof typeof USAGES, hosts: readonly string[] | undefined): Buffer[] {
  const issuingKey = createPublicKey(issuing.publicKey.export({ type: "spki", format: "pem" })).export({ type: "spki", format: "der" });
  return [
    extension(EXTENSION.basicConstraints, der.sequence(), true),
    extension(EXTENSION.keyUsage, SIGNS, true),
    extension(EXTENSION.extendedUsage, der.sequence(der.identifier(USAGES[usage]))),
    extension(EXTENSION.authorityKey, der.sequence(der.tagged(0x80, keyIdentifier(issuingKey)))),
    ...(hosts ? [extension(EXTENSION.alternativeNames, der.sequence(...hosts.map(alternativeName)))] : []),
  ];
}

/** Only what is critical says so: false is the default, and DER leaves defaults out. */
function extension(identifier: string, value: Uint8Array, critical = false): Buffer {
  return der.sequence(der.identifier(identifier), ...(critical ? [der.boolean(true)] : []), der.bytes(value));
}

function nameOf(name: DistinguishedName): Buffer {
  return der.sequence(...name.map(({ attribute, value }) => der.set(der.sequence(der.identifier(ATTRIBUTES[attribute]), der.utf8(value)))));
}

function alternativeName(host: string): Buffer {
  if (isIPv4(host)) return der.tagged(0x87, Buffer.from(host.split(".").map(Number)));
  return isIPv6(host) ? der.tagged(0x87, addressBytes(host)) : der.tagged(0x82, Buffer.from(host));
}

/** The sixteen bytes of an address in any of its spellings: a URL writes it in one form, groups in hexadecimal. */
function addressBytes(host: string): Buffer {
  const [before = "", after] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string): number[] => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const head = groupsOf(before);
  const tail = groupsOf(after ?? "");
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** RFC 5280, 4.2.1.2: the SHA-1 of the key's bits, which are a name here and no proof of anything. */
function keyIdentifier(publicBytes: Uint8Array): Buffer {
  const [, bits] = derChildren(publicBytes);
  return createHash("sha1").update(derContent(bits ?? publicBytes).subarray(1)).digest();
}

/** Who a certificate is for, as its bytes say it: the field after version, serial number, algorithm, issuer and validity. */
function subjectBytes(certificate: X509Certificate): Uint8Array {
  const [contents = new Uint8Array(0)] = derChildren(certificate.raw);
  return derChildren(contents)[5] ?? new Uint8Array(0);
}

/** 127 random bits: positive, and never the same twice. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
