/**
 * The parts of a certificate (RFC 5280, 4.1) that Node does not return as bytes. Node and OpenSSL accept some structures
 * here that Go rejects, and a certificate that kube-apiserver would reject is rejected.
 */
import type { X509Certificate } from "node:crypto";
import { DER, DerError, derItems, expectDer, readDer, type DerValue } from "./der-reader.ts";

export interface CertificateParts {
  issuer: DerValue;
  validity: DerValue;
  subject: DerValue;
  /** The list; unset in versions that have none. */
  extensions: DerValue | undefined;
}

const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;
/** The number of version 3, the last one. */
const LAST_VERSION = 2;

/** Throws `DerError`. */
export function partsOf(certificate: X509Certificate): CertificateParts {
  const [contents, algorithm] = derItems(expectDer(readDer(certificate.raw), DER.sequence, "the certificate"));
  const items = derItems(expectDer(contents, DER.sequence, "the contents of the certificate"));
  if (items[0]?.tag === VERSION_TAG) checkVersion(items.shift());
  const [serial, innerAlgorithm, issuer, validity, subject, , ...rest] = items;
  if (((expectDer(serial, DER.integer, "the serial number").content[0] ?? 0) & 0x80) !== 0)
    throw new DerError("the serial number is negative");
  if (Buffer.compare(innerAlgorithm?.whole ?? Buffer.alloc(0), algorithm?.whole ?? Buffer.alloc(0)) !== 0)
    throw new DerError("the two algorithms of the signature differ");
  const extensions = rest.find(({ tag }) => tag === EXTENSIONS_TAG);
  return {
    issuer: expectDer(issuer, DER.sequence, "the issuer"),
    validity: expectDer(validity, DER.sequence, "the validity"),
    subject: expectDer(subject, DER.sequence, "the subject"),
    extensions: extensions && expectDer(derItems(extensions)[0], DER.sequence, "the list of extensions"),
  };
}

function checkVersion(version: DerValue | undefined): void {
  const [number] = version ? derItems(version) : [];
  const { content } = expectDer(number, DER.integer, "the version");
  if (content.length !== 1 || (content[0] ?? 0) > LAST_VERSION) throw new DerError("the version is not supported");
}
