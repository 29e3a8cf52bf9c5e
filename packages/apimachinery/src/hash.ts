/**
 * The hashes that Kubernetes and Karmada put into names and labels. They distinguish versions and are not for security.
 */
import { NAME_ALPHABET } from "@flotilla/base";

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

const bytesOf = (input: string | Uint8Array): Uint8Array => (typeof input === "string" ? Buffer.from(input) : input);

/** FNV-1a, 32 bits: multiply after XORing the byte. */
export function fnv1a32(input: string | Uint8Array): number {
  let hash = OFFSET;
  for (const byte of bytesOf(input)) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}

/** FNV-1, 32 bits: multiply before XORing the byte. */
export function fnv32(input: string | Uint8Array): number {
  let hash = OFFSET;
  for (const byte of bytesOf(input)) hash = Math.imul(hash, PRIME) ^ byte;
  return hash >>> 0;
}

/** The text in the name alphabet, character by character, as in template hashes. */
export function safeEncode(text: string): string {
  let encoded = "";
  for (const character of text) encoded += NAME_ALPHABET[(character.codePointAt(0) ?? 0) % NAME_ALPHABET.length];
  return encoded;
}
