/**
 * JSON Web Tokens as far as service accounts need them: compact form, RS256, nothing else. The verification never
 * follows the token's own header; a token that names another algorithm is not a token.
 */
import { sign, verify } from "node:crypto";
import { decodeTokenPart } from "../request/token-part.ts";
import type { JsonObject } from "@flotilla/base";
import type { SigningKey } from "./signing-key.ts";

/** Ten times the size of a token issued here. */
const MAX_TOKEN_LENGTH = 16 * 1024;
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface DecodedToken {
  /** Empty when the token does not name its key. */
  kid: string;
  payload: JsonObject;
  /** The signed bytes. */
  input: string;
  signature: Uint8Array;
}

/** Signs on another thread: an RSA signature takes a millisecond. */
export function signToken(key: SigningKey, kid: string, payload: JsonObject): Promise<string> {
  const input = `${encode({ alg: "RS256", kid })}.${encode(payload)}`;
  return new Promise((resolve, reject) => {
    sign("RSA-SHA256", Buffer.from(input), key.privateKey, (error, signature) => {
      if (error) reject(error);
      else resolve(`${input}.${signature.toString("base64url")}`);
    });
  });
}

/** Decodes a token without verifying it. Returns undefined for anything that is not a token. */
export function decodeToken(token: string): DecodedToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return undefined;
  const [head = "", body = "", signature = ""] = token.split(".");
  const header = decodeTokenPart(head);
  const payload = decodeTokenPart(body);
  if (!header || !payload || header.alg !== "RS256" || header.crit !== undefined) return undefined;
  return {
    kid: typeof header.kid === "string" ? header.kid : "",
    payload,
    input: `${head}.${body}`,
    signature: Buffer.from(signature, "base64url"),
  };
}

export function hasGoodSignature(key: SigningKey, { input, signature }: DecodedToken): boolean {
  return verify("RSA-SHA256", Buffer.from(input), key.publicKey, signature);
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
