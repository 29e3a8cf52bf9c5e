/**
 * Certificates for CertificateSigningRequests: the requested subject and alternative names, the usages that the signer
 * allows, and nothing else of the request. One authority signs the clients of all logical clusters, so an extension
 * names the cluster of the request: a user who may approve requests in one cluster must not be able to create users of
 * another.
 */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { FlotillaError, formatTime } from "@flotilla/base";
import type { CertificateExtensions } from "./certificate-extensions.ts";
import type { CertificateRequest } from "./certificate-request.ts";
import { der } from "./der-writer.ts";
import { writeSubject } from "./write-request.ts";
import { EXTENSION, assembleCertificate, authorityKey, extension, subjectBytes } from "./x509.ts";

export interface RequestTerms {
  /** API names of the usages; those that clients of an API server need. */
  usages: readonly string[];
  lifetimeMs: number;
  /** The id of the logical cluster that accepts the certificate. */
  cluster: string;
  /** The object to which the certificate is bound: it is not accepted for a later object of the same name. */
  registration?: string | undefined;
}

/**
 * The UUID c6b8762d-aa52-406f-ba51-be2687d8a461 in parts, below the arc in which private OIDs may be created from
 * UUIDs. As a single number below 2.25 it would be larger than Go can parse.
 */
const CLUSTER_EXTENSION = "1.2.840.113556.1.8000.2554.50872.30253.43602.16495.47697.12461703.14197857";
const REGISTRATION_EXTENSION = `${CLUSTER_EXTENSION}.1`;
/** Allows for clock skew of clients. */
const BACKDATE_MS = 5 * 60 * 1000;
/** For a longer lifetime the five minutes do not matter, so they are taken off its end. */
const SHORT_MS = 8 * 60 * 60 * 1000;
/** Bits from the left. */
const KEY_USAGES: Readonly<Record<string, number>> = { "digital signature": 0, "key encipherment": 2 };
const EXTENDED_USAGES: Readonly<Record<string, string>> = { "client auth": "1.3.6.1.5.5.7.3.2" };

/** PEM, signed with the authority's key. */
export function signRequest(
  authority: { certificate: string; key: string },
  request: CertificateRequest,
  terms: RequestTerms,
  nowMs: number,
): string {
  const issuing = new X509Certificate(authority.certificate);
  const signerEndMs = issuing.validToDate.getTime();
  if (nowMs >= signerEndMs)
    throw new FlotillaError(
      "Certificate",
      `cannot sign a certificate for ${JSON.stringify(request.commonName)}: the authority expired at ${formatTime(signerEndMs)}`,
    );
  const endMs = nowMs + terms.lifetimeMs - (terms.lifetimeMs < SHORT_MS ? 0 : BACKDATE_MS);
  return assembleCertificate({
    issuerName: subjectBytes(issuing),
    name: writeSubject(request.subject),
    publicBytes: request.publicKey.export({ type: "spki", format: "der" }),
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: Math.min(endMs, signerEndMs),
    extensions: [
      ...usageExtensions(terms.usages),
      extension(EXTENSION.basicConstraints, der.sequence(), true),
      authorityKey(issuing),
      ...nameExtensions(request),
      extension(CLUSTER_EXTENSION, der.utf8(terms.cluster)),
      ...(terms.registration === undefined ? [] : [extension(REGISTRATION_EXTENSION, der.utf8(terms.registration))]),
    ],
    signingKey: createPrivateKey(authority.key),
  });
}

/**
 * The id of the cluster that a certificate was signed for, and the object to which it is bound; undefined for
 * certificates that were not signed for a CertificateSigningRequest.
 */
export function boundsOf({
  values,
}: Pick<CertificateExtensions, "values">): Partial<Pick<RequestTerms, "cluster" | "registration">> {
  const textOf = (oid: string): string | undefined => {
    const value = values.get(oid);
    return value && Buffer.from(value.content).toString();
  };
  return { cluster: textOf(CLUSTER_EXTENSION), registration: textOf(REGISTRATION_EXTENSION) };
}

function usageExtensions(usages: readonly string[]): Buffer[] {
  let bits = 0;
  let last = 0;
  const extended: string[] = [];
  for (const usage of usages) {
    const bit = Object.hasOwn(KEY_USAGES, usage) ? KEY_USAGES[usage] : undefined;
    const identifier = Object.hasOwn(EXTENDED_USAGES, usage) ? EXTENDED_USAGES[usage] : undefined;
    if (bit !== undefined) {
      bits |= 0x80 >> bit;
      last = Math.max(last, bit);
    } else if (identifier !== undefined) extended.push(identifier);
    else throw new FlotillaError("Certificate", `certificates are not issued for the usage ${JSON.stringify(usage)}`);
  }
  return [
    ...(bits === 0 ? [] : [extension(EXTENSION.keyUsage, der.bits(Buffer.from([bits]), 7 - last), true)]),
    ...(extended.length === 0
      ? []
      : [
          extension(EXTENSION.extendedUsage, der.sequence(...extended.map((identifier) => der.identifier(identifier)))),
        ]),
  ];
}

function nameExtensions({ dnsNames, emailAddresses, ipAddresses, uris }: CertificateRequest): Buffer[] {
  const names = [
    ...dnsNames.map((name) => der.tagged(0x82, Buffer.from(name))),
    ...emailAddresses.map((address) => der.tagged(0x81, Buffer.from(address))),
    ...ipAddresses.map((address) => der.tagged(0x87, address)),
    ...uris.map((uri) => der.tagged(0x86, Buffer.from(uri))),
  ];
  return names.length === 0 ? [] : [extension(EXTENSION.alternativeNames, der.sequence(...names))];
}
