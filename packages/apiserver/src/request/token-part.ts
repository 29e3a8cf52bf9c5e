/** The parts of JSON Web Tokens, ours and those of identity providers. */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

/** Decodes the header or the claims; undefined for anything that is not an object. */
export function decodeTokenPart(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
