/** The user and the groups that a certificate names. */
import type { X509Certificate } from "node:crypto";
import { partsOf } from "./certificate-parts.ts";
import type { DerValue } from "./der-reader.ts";
import { textOf } from "./der-strings.ts";
import { attributesOf } from "./distinguished-name.ts";

export interface CertificateSubject {
  /** The last one if there are several, as in Go. */
  commonName: string;
  organizations: readonly string[];
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";

/** Throws `DerError`. */
export const subjectOf = (certificate: X509Certificate): CertificateSubject =>
  readSubject(partsOf(certificate).subject, "the subject");

/** All attributes are decoded, also those that are not used: a name with one that cannot be is rejected. */
export function readSubject(name: DerValue, what: string): CertificateSubject {
  const texts = attributesOf(name, what).map(({ type, value }) => ({ type, text: textOf(value, `a part of ${what}`) }));
  const valuesOf = (wanted: string): string[] => texts.filter(({ type }) => type === wanted).map(({ text }) => text);
  return { commonName: valuesOf(COMMON_NAME).at(-1) ?? "", organizations: valuesOf(ORGANIZATION) };
}
