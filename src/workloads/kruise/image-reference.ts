/**
 * Image references as OpenKruise parses and compares them: without the defaults that a runtime adds, so `nginx` and
 * `docker.io/library/nginx` differ.
 */
export interface ImageReference {
  repo: string;
  /** Empty if the reference has none. */
  tag: string;
  digest: string;
}

const DOMAIN =
  "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?";
const COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const REFERENCE = new RegExp(
  `^((?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);
const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };
const MAX_REPO_LENGTH = 255;
/** Longer than any valid reference; limits the work of the pattern. */
const MAX_LENGTH = 600;

/** Undefined for an invalid reference. */
export function parseImage(image: string): ImageReference | undefined {
  const match = image.length <= MAX_LENGTH ? REFERENCE.exec(image) : null;
  if (!match) return undefined;
  const [, repo = "", tag = "", digest = ""] = match;
  if (repo.length > MAX_REPO_LENGTH) return undefined;
  if (digest !== "") {
    const [algorithm = "", hex = ""] = digest.split(":");
    if (DIGEST_LENGTHS[algorithm] !== hex.length || hex !== hex.toLowerCase()) return undefined;
  }
  return { repo, tag, digest };
}

/** Compares two digests, else two tags; an invalid reference equals nothing. */
export function isSameImage(a: string, b: string): boolean {
  const [left, right] = [parseImage(a), parseImage(b)];
  if (!left || !right || left.repo !== right.repo) return false;
  return left.digest !== "" && right.digest !== "" ? left.digest === right.digest : left.tag === right.tag;
}
