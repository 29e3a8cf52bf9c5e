/**
 * Image references as OpenKruise parses and compares them: without the defaults that a runtime adds, so `nginx` and
 * `docker.io/library/nginx` differ.
 */
import { parseImageReference, type ImageReference } from "@flotilla/apimachinery";

const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };
const MAX_NAME_LENGTH = 255;

/** Undefined for a reference that OpenKruise rejects: its grammar has no IPv6 hosts, and three digest algorithms. */
export function parseImage(image: string): ImageReference | undefined {
  const reference = parseImageReference(image);
  if (!reference || reference.name.length > MAX_NAME_LENGTH || reference.name.startsWith("[")) return undefined;
  if (reference.digest === "") return reference;
  const [algorithm = "", hex = ""] = reference.digest.split(":");
  return DIGEST_LENGTHS[algorithm] === hex.length && hex === hex.toLowerCase() ? reference : undefined;
}

/** Compares two digests, else two tags; an invalid reference equals nothing. */
export function isSameImage(a: string, b: string): boolean {
  const [left, right] = [parseImage(a), parseImage(b)];
  if (!left || !right || left.name !== right.name) return false;
  return left.digest !== "" && right.digest !== "" ? left.digest === right.digest : left.tag === right.tag;
}
