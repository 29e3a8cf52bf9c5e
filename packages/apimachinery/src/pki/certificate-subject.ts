/** The user and the groups that a certificate names. */
import type { X509Certificate } from "node:crypto";

export interface CertificateSubject {
  commonName: string;
  organizations: readonly string[];
}

export function subjectOf(certificate: X509Certificate): CertificateSubject {
  // One attribute per line; attributes of one set are joined by plus signs. Both are escaped inside values.
  const attributes = certificate.subject.split(/\n| \+ /);
  const valuesOf = (name: string): string[] =>
    attributes.filter((text) => text.startsWith(`${name}=`)).map((text) => unescape(text.slice(name.length + 1)));
  return { commonName: valuesOf("CN").at(-1) ?? "", organizations: valuesOf("O") };
}

/** RFC 2253: a backslash precedes a special character; control characters are written in hexadecimal. */
function unescape(text: string): string {
  return text.replace(/\\([0-9A-F]{2}|.)/g, (_whole, escaped: string) =>
    escaped.length === 2 ? String.fromCharCode(Number.parseInt(escaped, 16)) : escaped,
  );
}
