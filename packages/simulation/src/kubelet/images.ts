/** Images as the simulated runtime treats them: nothing is pulled, and the name alone determines the outcome. */
import { hash } from "node:crypto";
import { parseImageReference } from "@flotilla/apimachinery";

/** Pods of a workload share a few images; the limit keeps arbitrary names from many clients from filling the memory. */
const MAX_KNOWN = 4096;
const known = new Map<string, string>();

/** Different names are different images; the same name is always the same image. */
export function imageIdOf(image: string): string {
  let id = known.get(image);
  if (id === undefined) {
    id = `sim://sha256:${sha256(image)}`;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(image, id);
  }
  return id;
}

/** The name as the runtime reports it: with a tag. A name that is not a reference stays as it is. */
export function reportedImage(image: string): string {
  const reference = parseImageReference(image);
  return reference && reference.tag === "" && reference.digest === "" ? `${image}:latest` : image;
}

/** `app:broken`, `app:broken-1`, `invalid.registry/app`: an image that can never be pulled. */
export function isBroken(image: string): boolean {
  return image.startsWith("invalid") || (parseImageReference(image)?.tag.startsWith("broken") ?? false);
}

export function sha256(text: string): string {
  return hash("sha256", text);
}
