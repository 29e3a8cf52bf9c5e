/**
 * JSON Web Tokens of identity providers: compact form, asymmetric algorithms only. The key decides which algorithms it
 * verifies; the header of a token only chooses among them.
 */
import { createPublicKey, verify } from "node:crypto";
import type { JsonWebKey, KeyObject } from "node:crypto";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { decodeTokenPart } from "../request/token-part.ts";

const MAX_TOKEN_LENGTH = 64 * 1024;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface WebToken {
  readonly algorithm: string;
  /** Empty when the token does not name its key. */
  readonly keyId: string;
  readonly claims: JsonObject;
  readonly input: string;
  readonly signature: Uint8Array;
}

/** Undefined for anything that is not a token. */
export function readWebToken(token: string): WebToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return undefined;
  const [head = "", body = "", signature = ""] = token.split(".");
  const [header, claims] = [decodeTokenPart(head), decodeTokenPart(body)];
  if (!header || !claims || typeof header.alg !== "string" || header.crit !== undefined) return undefined;
  return {
    algorithm: header.alg,
    keyId: typeof header.kid === "string" ? header.kid : "",
    claims,
    input: `${head}.${body}`,
    signature: Buffer.from(signature, "base64url"),
  };
}

export interface VerificationKey {
  readonly keyId: string;
  readonly key: KeyObject;
  /** The one that the key is limited to; unset allows all of its type. */
  readonly algorithm: string | undefined;
}

const MIN_MODULUS_BITS = 2048;
const CURVES: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** The keys of a JSON Web Key Set that can verify signatures; others are ignored, as providers may have them. */
export function keysIn(set: Json): VerificationKey[] {
  const keys = isObject(set) && Array.isArray(set.keys) ? set.keys : [];
  return keys.slice(0, MAX_KEYS).flatMap((jwk): VerificationKey[] => {
    if (!isObject(jwk) || (jwk.use !== undefined && jwk.use !== "sig")) return [];
    const key = publicKeyOf(jwk);
    if (!key) return [];
    const { kid, alg } = jwk;
    return [{ keyId: typeof kid === "string" ? kid : "", key, algorithm: typeof alg === "string" ? alg : undefined }];
  });
}
const MAX_KEYS = 100;

function publicKeyOf(jwk: JsonObject): KeyObject | undefined {
  if (jwk.kty !== "RSA" && jwk.kty !== "EC") return undefined;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    return key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_BITS
      ? undefined
      : key;
  } catch {
    // A key that cannot be read verifies nothing; the others may.
    return undefined;
  }
}

/** Whether one of the keys signed the token. */
export function isSignedBy(token: WebToken, keys: readonly VerificationKey[]): boolean {
  return keys.some(
    ({ key, algorithm }) => (algorithm === undefined || algorithm === token.algorithm) && hasSignature(token, key),
  );
}

function hasSignature({ algorithm, input, signature }: WebToken, key: KeyObject): boolean {
  const [, family = "", bits = ""] = /^(RS|PS|ES)(256|384|512)$/.exec(algorithm) ?? [];
  const data = Buffer.from(input);
  if (family === "ES")
    return (
      key.asymmetricKeyType === "ec" &&
      key.asymmetricKeyDetails?.namedCurve === CURVES[algorithm] &&
      verify(`sha${bits}`, data, { key, dsaEncoding: "ieee-p1363" }, signature)
    );
  if (family === "" || key.asymmetricKeyType !== "rsa") return false;
  if (family === "RS") return verify(`RSA-SHA${bits}`, data, key, signature);
  // RSA_PKCS1_PSS_PADDING, with a salt as long as the hash.
  return verify(`RSA-SHA${bits}`, data, { key, padding: 6, saltLength: Number(bits) / 8 }, signature);
}
