/** Answers the ConversionReviews of another API server for kinds whose versions differ in more than their name. */
import { badRequest, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { isObject, messageOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

/** Throws 400 for what is not a ConversionReview; an object that cannot be converted fails the review. */
export function answerConversion(
  review: unknown,
  kindOf: (group: string, kind: string) => Kind | undefined,
): JsonObject {
  const request = isObject(review) && review["kind"] === "ConversionReview" ? review["request"] : undefined;
  const { uid, desiredAPIVersion, objects } = isObject(request) ? request : {};
  if (typeof uid !== "string" || typeof desiredAPIVersion !== "string" || !Array.isArray(objects))
    throw badRequest("the body is not a ConversionReview with a uid, a desiredAPIVersion and objects");
  const respond = (response: JsonObject): JsonObject => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid, ...response },
  });
  try {
    return respond({
      convertedObjects: objects.map((object) => convert(object, desiredAPIVersion, kindOf)),
      result: { status: "Success" },
    });
  } catch (error) {
    return respond({ convertedObjects: [], result: { status: "Failure", message: messageOf(error) } });
  }
}

function convert(
  object: unknown,
  desired: string,
  kindOf: (group: string, kind: string) => Kind | undefined,
): JsonObject {
  const { apiVersion, kind: name } = isObject(object) ? object : {};
  if (!isObject(object) || typeof apiVersion !== "string" || typeof name !== "string")
    throw badRequest("an object of the review has no apiVersion or kind");
  const { group, version } = parseApiVersion(apiVersion);
  const kind = kindOf(group, name);
  const [from, to] = [kind?.versions[version], kind?.versions[parseApiVersion(desired).version]];
  if (!kind || !from || !to || parseApiVersion(desired).group !== group)
    throw badRequest(`${name} cannot be converted from ${apiVersion} to ${desired}`);
  const stored = from.toStorage?.(object) ?? object;
  return { ...(to.fromStorage?.(stored) ?? stored), apiVersion: desired };
}
