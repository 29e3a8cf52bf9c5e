/** References to container images, by the grammar of the distribution project: `registry.example.com/team/app:v1`. */

export interface ImageReference {
  /** Registry and repository as written, without the defaults that a runtime adds. */
  name: string;
  /** Without the leading `:` or `@`; empty for none. */
  tag: string;
  digest: string;
}

const HOST_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const HOST = String.raw`(?:${HOST_PART}(?:\.${HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const NAME = `(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*`;
const TAG = String.raw`\w[\w.-]{0,127}`;
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";

/** Matches nearly every image, at a fraction of the cost: lower case, with a plain tag or none. */
const USUAL = new RegExp(`^([a-z0-9]+(?:[./-][a-z0-9]+)*)(?::(${TAG}))?$`);
const REFERENCE = new RegExp(`^(${NAME})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const ONLY_TAG = new RegExp(`^${TAG}$`);
const ONLY_DIGEST = new RegExp(`^${DIGEST}$`);
/** A name has at most 255 characters and a tag 128; the limit bounds the cost of a hostile manifest. */
export const MAX_IMAGE_LENGTH = 1024;

/** Returns undefined for an invalid reference. */
export function parseImageReference(image: string): ImageReference | undefined {
  if (image.length > MAX_IMAGE_LENGTH) return undefined;
  const match = USUAL.exec(image) ?? REFERENCE.exec(image);
  if (!match) return undefined;
  const [, name = "", tag = "", digest = ""] = match;
  return { name, tag, digest };
}

export const isImageTag = (text: string): boolean => ONLY_TAG.test(text);
export const isImageDigest = (text: string): boolean => ONLY_DIGEST.test(text);
