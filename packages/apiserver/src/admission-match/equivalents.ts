/** The same objects in other versions, and under another group for kinds that are views of another kind. */
import type { JsonObject } from "@flotilla/base";
import { convertBetween } from "../codec/conversion.ts";
import type { RequestContext } from "../request/context.ts";
import { ordered } from "../codec/render.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import type { ResourceTable, ServedVersion } from "../resources/resources.ts";

/** Other versions in which a cluster serves the objects of a version. */
export function equivalentsOf({ resources }: ResourceTable, served: ServedVersion): ServedVersion[] {
  const { resource } = served;
  // Views of one kind share the prefix of their keys.
  return resources
    .filter(({ prefix }) => prefix === resource.prefix)
    .flatMap(({ versions }) => versions)
    .filter((version) => version !== served);
}

/** The object in another version of the same kind. Throws `ConversionPending`. */
export function converted(
  { conversions }: Pick<RequestContext, "conversions">,
  object: JsonObject,
  from: ServedVersion,
  to: ServedVersion,
): JsonObject {
  if (from === to) return object;
  return ordered({
    ...convertBetween(conversions, object, from, to),
    apiVersion: to.apiVersion,
    kind: to.resource.kind.kind,
  });
}

/** The objects of a request in the version that a webhook or a policy names. */
export function inVersion(
  served: ServedVersion,
  { context, kind, object, oldObject }: AdmissionRequest,
): Pick<AdmissionRequest, "object" | "oldObject"> {
  const convert = (value: JsonObject | undefined): JsonObject | undefined =>
    value && !kind ? converted(context, value, context.served, served) : value;
  return { object: convert(object), oldObject: convert(oldObject) };
}
