/** Names of container images, as far as the API server looks at them: what an image without a policy is pulled by. */

const DOMAIN = String.raw`(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PART = String.raw`[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(
  String.raw`^(?:${DOMAIN}/)?${PART}(?:/${PART})*(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
/** Longer than any registry takes; nothing beyond it is looked at. */
const MAX_LENGTH = 1024;
/** Nearly every image: lower case, with a plain tag or none. */
const USUAL = /^[a-z0-9]+(?:[./-][a-z0-9]+)*(?::([\w][\w.-]{0,127}))?$/;

/**
 * An image without a tag, or with the tag `latest`, may change at any time. What is no reference at all has no tag to
 * look at.
 */
export function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  if (image.length > MAX_LENGTH) return "IfNotPresent";
  const match = USUAL.exec(image) ?? REFERENCE.exec(image);
  // 64 hexadecimal digits would be the id of an image, which cannot be pulled.
  if (!match || /^[a-f0-9]{64}$/.test(image)) return "IfNotPresent";
  const [, tag, digest] = match;
  return (tag ?? (digest === undefined ? "latest" : "")) === "latest" ? "Always" : "IfNotPresent";
}
