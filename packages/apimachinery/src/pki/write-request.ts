/** Writes certificate requests (PKCS #10) and their subjects, for Flotilla components that request a certificate. */
import { sign, type KeyObject } from "node:crypto";
import type { RequestSubject, SubjectAttribute } from "./certificate-request.ts";
import { der } from "./der-writer.ts";
import { writePem } from "./pem.ts";

/** In the order in which Go writes them, which stock tools show. */
const ATTRIBUTES: readonly [SubjectAttribute, string][] = [
  ["C", "2.5.4.6"],
  ["O", "2.5.4.10"],
  ["OU", "2.5.4.11"],
  ["L", "2.5.4.7"],
  ["ST", "2.5.4.8"],
  ["STREET", "2.5.4.9"],
  ["POSTAL", "2.5.4.17"],
  ["CN", "2.5.4.3"],
  ["SERIAL", "2.5.4.5"],
];
const ALGORITHMS: Readonly<Record<string, { identifier: string; digest: string | null }>> = {
  ec: { identifier: "1.2.840.10045.4.3.2", digest: "sha256" },
  ed25519: { identifier: "1.3.101.112", digest: null },
};
const VERSION_1 = der.integer(Buffer.from([0]));

/** The values of one attribute share a set, whose members DER sorts. */
export function writeSubject(subject: RequestSubject): Buffer {
  const sets: Buffer[] = [];
  for (const [attribute, identifier] of ATTRIBUTES) {
    const values = (subject[attribute] ?? []).map((value) => der.sequence(der.identifier(identifier), der.utf8(value)));
    if (values.length > 0) sets.push(der.set(...values.sort(Buffer.compare)));
  }
  return der.sequence(...sets);
}

/**
 * Returns PEM. The key is an elliptic-curve or Ed25519 key pair; `privateKey` signs, and only `publicKey` is in the
 * request.
 */
export function writeCertificateRequest({
  subject,
  publicKey,
  privateKey,
}: {
  subject: RequestSubject;
  publicKey: KeyObject;
  privateKey: KeyObject;
}): string {
  const algorithm = ALGORITHMS[privateKey.asymmetricKeyType ?? ""];
  if (!algorithm)
    throw new TypeError(
      `cannot sign a certificate request with a key of type ${String(privateKey.asymmetricKeyType)}; use an elliptic-curve or Ed25519 key`,
    );
  const contents = der.sequence(
    VERSION_1,
    writeSubject(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der.tagged(0xa0),
  );
  const signature = sign(algorithm.digest, contents, privateKey);
  return writePem(
    "CERTIFICATE REQUEST",
    der.sequence(contents, der.sequence(der.identifier(algorithm.identifier)), der.bits(signature)),
  );
}
