/**
 * The keys of service account tokens: the first signs, all verify, so that a key is replaced while its tokens are in use.
 * They serve all clusters of a server. A token is valid in one cluster only, because the key id in its signed header
 * differs per cluster.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { FlotillaError } from "@flotilla/base";

export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key in DER, from which key ids are derived. */
  readonly der: Uint8Array;
}

const MODULUS_BITS = 2048;

/** Creates a key and returns it as PEM. The result is a secret. Takes a tenth of a second, on another thread. */
export async function createSigningKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: MODULUS_BITS,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return privateKey;
}

/** The keys of a file, in its order: the first signs. */
export function openSigningKeys(pem: string): [SigningKey, ...SigningKey[]] {
  const [first = "", ...others] = signingKeysIn(pem);
  return [openSigningKey(first), ...others.map(openSigningKey)];
}

/** Each key of a file as PEM. */
export function signingKeysIn(pem: string): string[] {
  return pem.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----/g) ?? [];
}

export function openSigningKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== "rsa" || (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < MODULUS_BITS) {
    throw new FlotillaError(
      "SigningKey",
      `the key for service account tokens must be RSA with at least ${MODULUS_BITS} bits; remove it to generate a new one, which invalidates all tokens`,
    );
  }
  const publicKey = createPublicKey(privateKey);
  return { privateKey, publicKey, der: publicKey.export({ type: "spki", format: "der" }) };
}

/** Two clusters never share an id, not even a cluster and its predecessor of the same name. */
export function keyIdOf(
  { der }: SigningKey,
  { name, createdAt, revision }: { readonly name: string; readonly createdAt: string; readonly revision: number },
): string {
  return createHash("sha256").update(der).update(`\n${name}\n${createdAt}\n${revision}`).digest("base64url");
}

/** The public key as a JSON Web Key. */
export function webKeyOf({ publicKey }: SigningKey, kid: string): Record<string, string> {
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  return { use: "sig", kty: "RSA", kid, alg: "RS256", n, e };
}
