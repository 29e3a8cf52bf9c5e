/**
 * Changes registry, repository or tag of images: of all main containers, or of the one string at a predicate's path.
 */
import type { ImageOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { formatImage, parseImage, withTag, type ImageParts } from "../image-parts.ts";
import { escapePointer, patchAt, valueAt } from "../json-pointer.ts";
import { OverrideError } from "../override-error.ts";
import { containersOf } from "./containers.ts";

type Overrider = DeepReadonly<ImageOverrider>;

export function overrideImages(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overriders.reduce<JsonObject>((result, overrider) => {
    const images = overrider.predicate ? [imageAt(result, overrider.predicate.path)] : imagesOf(result);
    return images.reduce<JsonObject>(
      (changed, { path, image }) => patchAt(changed, "replace", path, revise(image, overrider)) as JsonObject,
      result,
    );
  }, object);
}

interface ImageAt {
  path: string;
  image: string;
}

function imagesOf(object: JsonObject): ImageAt[] {
  return containersOf(object).flatMap(({ path, container }) => {
    const { image } = container;
    return typeof image === "string" ? [{ path: `${path}/image`, image }] : [];
  });
}

/** The parts of a predicate are literal: no escapes, so no key with a slash. */
function imageAt(object: JsonObject, path: string): ImageAt {
  const parts = path.split("/").slice(1);
  const image: Json | undefined = valueAt(object, parts);
  if (typeof image !== "string")
    throw new OverrideError(`cannot override the image at ${path}: the object has no string there`);
  return { path: parts.map((part) => `/${escapePointer(part)}`).join(""), image };
}

function revise(image: string, { component, operator, value = "" }: Overrider): string {
  const parsed = parseImage(image);
  if (component === "Registry")
    return formatImage({ ...parsed, registry: reviseText(parsed.registry, operator, value) });
  if (component === "Repository")
    return formatImage({ ...parsed, repository: reviseText(parsed.repository, operator, value) });
  return formatImage(reviseTag(parsed, operator, value));
}

function reviseTag(image: ImageParts, operator: Overrider["operator"], value: string): ImageParts {
  if (operator === "remove") return { ...image, tag: "", digest: "" };
  return withTag(image, reviseText(image.tag || image.digest, operator, value));
}

function reviseText(text: string, operator: Overrider["operator"], value: string): string {
  if (operator === "remove") return "";
  return operator === "add" ? text + value : value;
}
