/** Validates image references as OpenKruise does, with the grammar and the messages of the distribution library. */
import { parseImageReference } from "@flotilla/apimachinery";
import { digestProblem, MAX_NAME_LENGTH } from "./same-image.ts";

const DEFAULT_DOMAIN = "docker.io";
const IDENTIFIER = /^[a-f0-9]{64}$/;

const WRONG_FORMAT = "invalid reference format";
const UPPER_CASE = `${WRONG_FORMAT}: repository name must be lowercase`;

/** Undefined for a valid reference. */
export function imageReferenceProblem(image: string): string | undefined {
  if (IDENTIFIER.test(image)) return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  const { domain, rest } = splitDomain(image);
  const [repository = ""] = rest.split(":", 1);
  if (repository.toLowerCase() !== repository) return UPPER_CASE;
  const full = `${domain}/${domain === DEFAULT_DOMAIN && !rest.includes("/") ? "library/" : ""}${rest}`;
  const found = parseImageReference(full);
  if (!found) return parseImageReference(full.toLowerCase()) ? UPPER_CASE : WRONG_FORMAT;
  if (found.name.length > MAX_NAME_LENGTH) return `repository name must not be more than ${MAX_NAME_LENGTH} characters`;
  return found.digest === "" ? undefined : digestProblem(found.digest);
}

/** The part before the first slash is a domain if it has a dot or a port, or is `localhost`. */
function splitDomain(image: string): { domain: string; rest: string } {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  const isDomain = /[.:]/.test(first) || first === "localhost";
  return isDomain ? { domain: first, rest: image.slice(slash + 1) } : { domain: DEFAULT_DOMAIN, rest: image };
}

/**
 * The name and the tag under which a NodeImage lists an image: `nginx` and `latest` for `docker.io/library/nginx`. A
 * digest replaces the tag.
 */
export function nameAndTagOf(image: string): { name: string; tag: string } {
  const { domain, rest } = splitDomain(image);
  const [path = "", digest] = rest.split("@");
  const colon = path.lastIndexOf(":");
  const repository = colon < 0 ? path : path.slice(0, colon);
  const familiar = domain === DEFAULT_DOMAIN ? repository.replace(/^library\//, "") : `${domain}/${repository}`;
  return { name: familiar, tag: digest ?? (colon < 0 ? "latest" : path.slice(colon + 1)) };
}
