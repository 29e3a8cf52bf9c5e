/**
 * The parts of a container image that image overriders change: registry, repository and tag or digest.
 *
 * The registry is the first part of the name when it looks like a host: it contains a dot or a port, or is `localhost`.
 * For an image with tag and digest only the tag is kept, as in Karmada.
 */
import { isImageDigest, isImageTag, MAX_IMAGE_LENGTH, parseImageReference } from "@flotilla/apimachinery";
import { OverrideError } from "./override-error.ts";

export interface ImageParts {
  registry: string;
  repository: string;
  /** Without the leading `:` or `@`; empty for none. */
  tag: string;
  digest: string;
}

export function parseImage(image: string): ImageParts {
  const reference = parseImageReference(image);
  if (!reference)
    throw new OverrideError(
      `cannot parse image ${JSON.stringify(image.slice(0, MAX_IMAGE_LENGTH))}: it is not an image reference`,
    );
  const { name, tag, digest } = reference;
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

export function formatImage({ registry, repository, tag, digest }: ImageParts): string {
  const name = registry ? `${registry}/${repository}` : repository;
  if (tag) return `${name}:${tag}`;
  return digest ? `${name}@${digest}` : name;
}

/** With this tag or digest; unchanged when the string is neither. */
export function withTag(image: ImageParts, text: string): ImageParts {
  if (isImageTag(text)) return { ...image, tag: text, digest: "" };
  if (isImageDigest(text)) return { ...image, tag: "", digest: text };
  return image;
}
