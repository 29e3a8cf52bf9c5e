import { parseImageReference } from "@flotilla/apimachinery";

/** An image without a tag, or with the tag `latest`, may change at any time. An invalid reference has no tag. */
export function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  const reference = parseImageReference(image);
  // 64 hexadecimal digits are an image ID, which cannot be pulled.
  if (!reference || /^[a-f0-9]{64}$/.test(image)) return "IfNotPresent";
  const { tag, digest } = reference;
  return tag === "latest" || (tag === "" && digest === "") ? "Always" : "IfNotPresent";
}
