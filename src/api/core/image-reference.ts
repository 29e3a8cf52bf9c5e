/** Parses container image names as far as the API server does: to default the pull policy. */

const DOMAIN = String.raw`(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PART = String.raw`[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(
  String.raw`^(?:${DOMAIN}/)?${PART}(?:/${PART})*(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
/** Longer than any registry accepts; longer names are not parsed. */
const MAX_LENGTH = 1024;
/** Matches nearly every image: lower case, with a plain tag or none. */
const USUAL = /^[a-z0-9]+(?:[./-][a-z0-9]+)*(?::([\w][\w.-]{0,127}))?$/;

/** An image without a tag, or with the tag `latest`, may change at any time. An invalid reference has no tag. */
export function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  if (image.length > MAX_LENGTH) return "IfNotPresent";
  const match = USUAL.exec(image) ?? REFERENCE.exec(image);
  // 64 hexadecimal digits are an image ID, which cannot be pulled.
  if (!match || /^[a-f0-9]{64}$/.test(image)) return "IfNotPresent";
  const [, tag, digest] = match;
  return (tag ?? (digest === undefined ? "latest" : "")) === "latest" ? "Always" : "IfNotPresent";
}
