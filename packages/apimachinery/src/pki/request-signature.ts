/**
 * Verifies that a request was signed with the key to be certified: a client cannot get a certificate for another
 * party's key.
 */
import { constants, verify, type KeyObject } from "node:crypto";
import { DER, DerError, derItems, expectDer, identifierOf, type DerValue } from "./der-reader.ts";

type Type = "rsa" | "ec" | "ed25519";

const RSA_PSS = "1.2.840.113549.1.1.10";
const ALGORITHMS: Readonly<Record<string, { type: Type; digest: string | null }>> = {
  "1.2.840.113549.1.1.5": { type: "rsa", digest: "sha1" },
  "1.2.840.113549.1.1.11": { type: "rsa", digest: "sha256" },
  "1.2.840.113549.1.1.12": { type: "rsa", digest: "sha384" },
  "1.2.840.113549.1.1.13": { type: "rsa", digest: "sha512" },
  "1.2.840.10045.4.1": { type: "ec", digest: "sha1" },
  "1.2.840.10045.4.3.2": { type: "ec", digest: "sha256" },
  "1.2.840.10045.4.3.3": { type: "ec", digest: "sha384" },
  "1.2.840.10045.4.3.4": { type: "ec", digest: "sha512" },
  "1.3.101.112": { type: "ed25519", digest: null },
};
const DIGESTS: Readonly<Record<string, string>> = {
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};

/** Throws DerError when the algorithm is unknown. */
export function isSignedWith(key: KeyObject, algorithm: DerValue, signed: Uint8Array, signature: Uint8Array): boolean {
  const [type, parameters] = derItems(algorithm);
  const identifier = identifierOf(expectDer(type, DER.identifier, "the algorithm"));
  if (identifier === RSA_PSS) {
    if (key.asymmetricKeyType !== "rsa") return false;
    return verify(
      pssDigest(parameters),
      signed,
      { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
      signature,
    );
  }
  const known = Object.hasOwn(ALGORITHMS, identifier) ? ALGORITHMS[identifier] : undefined;
  if (!known) throw new DerError(`the signature algorithm ${identifier} is not supported`);
  return key.asymmetricKeyType === known.type && verify(known.digest, signed, key, signature);
}

/** The digest of RSASSA-PSS; the salt has the same length, as is usual. */
function pssDigest(parameters: DerValue | undefined): string {
  const [first] = derItems(expectDer(parameters, DER.sequence, "the parameters of RSASSA-PSS"));
  const [digest] = derItems(expectDer(first, 0xa0, "the digest of RSASSA-PSS"));
  const [type] = derItems(expectDer(digest, DER.sequence, "the digest of RSASSA-PSS"));
  const identifier = identifierOf(expectDer(type, DER.identifier, "the digest of RSASSA-PSS"));
  const name = Object.hasOwn(DIGESTS, identifier) ? DIGESTS[identifier] : undefined;
  if (name === undefined) throw new DerError(`the digest ${identifier} is not supported`);
  return name;
}
