/** Expiry of certificates and tokens. Pure. */
import { splitCertificates } from "@flotilla/apimachinery";
import { X509Certificate } from "node:crypto";
import { isObject } from "@flotilla/base";

export interface Lifetime {
  fromMs: number;
  toMs: number;
}

/** From PEM or DER; of several certificates the one that expires first. Undefined if there is no certificate. */
export function certificateLifetime(data: string | Uint8Array): Lifetime | undefined {
  const blocks = typeof data === "string" ? splitCertificates(data).slice(0, MAX_CERTIFICATES) : [data];
  const found = blocks.flatMap((block) => readLifetime(block) ?? []);
  return found.toSorted((a, b) => a.toMs - b.toMs)[0];
}

/** A bundle has a few; a Secret may contain anything. */
const MAX_CERTIFICATES = 100;

function readLifetime(block: string | Uint8Array): Lifetime | undefined {
  try {
    const { validFromDate, validToDate } = new X509Certificate(block);
    return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
  } catch (error) {
    if (error instanceof Error) return undefined; // Not a certificate.
    throw error;
  }
}

/** Expiry of a service account token; undefined for tokens without one. */
export function tokenLifetime(token: string): Lifetime | undefined {
  const [, payload = "", signature] = token.split(".");
  if (signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    if (!isObject(claims) || typeof claims["exp"] !== "number") return undefined;
    return { fromMs: (typeof claims["iat"] === "number" ? claims["iat"] : 0) * 1000, toMs: claims["exp"] * 1000 };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Some other kind of token.
    throw error;
  }
}
