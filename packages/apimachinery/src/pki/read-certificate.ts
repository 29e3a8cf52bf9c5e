/**
 * Reads a certificate completely, so that it is either understood or rejected. kube-apiserver is the measure
 * (docs/adr/0124-how-strictly-certificates-are-read.md). The key and the signature are the TLS library's.
 */
import type { X509Certificate } from "node:crypto";
import { readExtensions, type CertificateExtensions } from "./certificate-extensions.ts";
import { partsOf } from "./certificate-parts.ts";
import { readSubject, type CertificateSubject } from "./certificate-subject.ts";
import { readValidity, type Validity } from "./validity.ts";

export interface CertificateContents extends CertificateSubject, Validity, CertificateExtensions {}

/** Throws `DerError`. */
export function readCertificate(certificate: X509Certificate): CertificateContents {
  const { issuer, validity, subject, extensions } = partsOf(certificate);
  readSubject(issuer, "the issuer");
  return { ...readSubject(subject, "the subject"), ...readValidity(validity), ...readExtensions(extensions) };
}
