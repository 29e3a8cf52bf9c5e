/**
 * Image references as OpenKruise parses and compares them: without the defaults that a runtime adds, so `nginx` and
 * `docker.io/library/nginx` differ.
 */
import { parseImageReference, type ImageReference } from "@flotilla/apimachinery";

/** Characters of a name. */
export const MAX_NAME_LENGTH = 255;

/** Undefined for a reference that OpenKruise rejects: its grammar has no IPv6 hosts, and three digest algorithms. */
export function parseImage(image: string): ImageReference | undefined {
  const reference = parseImageReference(image);
  if (!reference || reference.name.length > MAX_NAME_LENGTH || reference.name.startsWith("[")) return undefined;
  return reference.digest === "" || digestProblem(reference.digest) === undefined ? reference : undefined;
}

/** Hexadecimal digits of the digests that OpenKruise's library knows. */
const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

/** The library's message about a digest; undefined for a valid one. */
export function digestProblem(digest: string): string | undefined {
  const [algorithm = "", value = ""] = digest.split(":");
  const length = DIGEST_LENGTHS.get(algorithm);
  if (length === undefined) return "unsupported digest algorithm";
  if (value.length !== length) return "invalid checksum digest length";
  return /^[a-f0-9]+$/.test(value) ? undefined : "invalid checksum digest format";
}

/** Compares two digests, else two tags; an invalid reference equals nothing. */
export function isSameImage(a: string, b: string): boolean {
  const [left, right] = [parseImage(a), parseImage(b)];
  if (!left || !right || left.name !== right.name) return false;
  return left.digest !== "" && right.digest !== "" ? left.digest === right.digest : left.tag === right.tag;
}
