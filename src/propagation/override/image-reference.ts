/**
 * The parts of a container image: registry, repository and tag or digest, by the grammar of the distribution project.
 *
 * The registry is the first part of the name when it looks like a host: it contains a dot or a port, or is `localhost`.
 * For an image with tag and digest only the tag is kept, as in Karmada.
 */
import { OverrideError } from "./override-error.ts";

export interface ImageReference {
  registry: string;
  repository: string;
  /** Without the leading `:` or `@`; empty for none. */
  tag: string;
  digest: string;
}

const HOST_PART = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const NAME = `(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*`;
const TAG = "[\\w][\\w.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";

const REFERENCE = new RegExp(`^(${NAME})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const ONLY_TAG = new RegExp(`^${TAG}$`);
const ONLY_DIGEST = new RegExp(`^${DIGEST}$`);
/** A name has at most 255 characters and a tag 128; the limit bounds the cost of a hostile manifest. */
const MAX_IMAGE_LENGTH = 1024;

export function parseImage(image: string): ImageReference {
  const match = image.length <= MAX_IMAGE_LENGTH ? REFERENCE.exec(image) : null;
  if (!match)
    throw new OverrideError(
      `cannot parse image ${JSON.stringify(image.slice(0, MAX_IMAGE_LENGTH))}: it is not an image reference`,
    );
  const [, name = "", tag = "", digest = ""] = match;
  const slash = name.indexOf("/");
  const host = slash < 0 ? "" : name.slice(0, slash);
  const hasRegistry = host === "localhost" || /[.:]/.test(host);
  return {
    registry: hasRegistry ? host : "",
    repository: hasRegistry ? name.slice(slash + 1) : name,
    tag,
    digest: tag ? "" : digest,
  };
}

export function formatImage({ registry, repository, tag, digest }: ImageReference): string {
  const name = registry ? `${registry}/${repository}` : repository;
  if (tag) return `${name}:${tag}`;
  return digest ? `${name}@${digest}` : name;
}

/** With this tag or digest; unchanged when the string is neither. */
export function withTag(image: ImageReference, text: string): ImageReference {
  if (ONLY_TAG.test(text)) return { ...image, tag: text, digest: "" };
  if (ONLY_DIGEST.test(text)) return { ...image, tag: "", digest: text };
  return image;
}
