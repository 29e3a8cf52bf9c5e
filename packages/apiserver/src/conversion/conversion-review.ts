/**
 * ConversionReview, the request to a conversion webhook and its response (`apiextensions.k8s.io/v1`, and v1beta1 for
 * older webhooks). A webhook may change everything but the metadata, of which it may change labels and annotations.
 */
import {
  annotationKeyProblems,
  field,
  fieldErrorText,
  labelKeyProblems,
  labelValueProblems,
  parseApiVersion,
} from "@flotilla/apimachinery";
import { equalJson, isObject, parseExactJson, textOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { parseWebhookJson, shown, WebhookError } from "@flotilla/client";
import { CRD_GROUP } from "../resources/definition.ts";

const KIND = "ConversionReview";
const REVIEW_VERSIONS = ["v1", "v1beta1"] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** The first version of the list that this server knows. */
export const reviewVersionOf = (versions: readonly string[]): ReviewVersion | undefined =>
  versions.find((version): version is ReviewVersion => (REVIEW_VERSIONS as readonly string[]).includes(version));

export function renderConversionReview(
  version: ReviewVersion,
  uid: string,
  desiredAPIVersion: string,
  objects: readonly JsonObject[],
): Buffer {
  return Buffer.from(
    JSON.stringify({ kind: KIND, apiVersion: `${CRD_GROUP}/${version}`, request: { uid, desiredAPIVersion, objects } }),
  );
}

/** The converted objects of a response, not yet checked. Throws `WebhookError` if it reports a failure or is invalid. */
export function readConversionReview(answer: Buffer, version: ReviewVersion, uid: string): readonly Json[] {
  const review = parseWebhookJson(answer, "the response", parseExactJson);
  if (!isObject(review)) throw new WebhookError("answer", "the response is not an object");
  const { apiVersion, kind, response } = review;
  // In v1beta1 neither the kind nor the uid of a response is checked.
  if (version === "v1" && (kind !== KIND || apiVersion !== `${CRD_GROUP}/${version}`))
    throw new WebhookError(
      "answer",
      `expected webhook response of ${CRD_GROUP}/v1, Kind=${KIND}, got ${shown(apiVersion)}, Kind=${shown(kind)}`,
    );
  if (!isObject(response)) throw new WebhookError("answer", "no response provided");
  if (version === "v1" && response.uid !== uid)
    throw new WebhookError("answer", `expected response.uid=${JSON.stringify(uid)}, got ${shown(response.uid)}`);
  const { status, message } = isObject(response.result) ? response.result : {};
  if (status !== "Success")
    throw new WebhookError(
      "refused",
      typeof message === "string" && message !== ""
        ? message
        : `response.result.status was '${typeof status === "string" ? status : ""}', not 'Success'`,
    );
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** What is wrong with a converted object, in kube-apiserver's words after "conversion webhook for … ". */
export class InvalidConversion extends Error {}

/** The converted object with the metadata of the original, and its own labels and annotations. Throws `InvalidConversion`. */
export function acceptConverted(original: JsonObject, converted: Json | undefined, desired: string): JsonObject {
  if (!isObject(converted)) throw new InvalidConversion("returned invalid object at index 0: it is not an object");
  const { apiVersion, kind, metadata } = converted;
  const of = typeof apiVersion === "string" ? apiVersion : "";
  if (of !== desired)
    throw new InvalidConversion(
      `returned invalid object at index 0: invalid groupVersion (expected ${desired}, received ${of})`,
    );
  if (kind !== original.kind)
    throw new InvalidConversion(
      `returned invalid object at index 0: invalid kind (expected ${textOf(original.kind)}, received ${textOf(kind)})`,
    );
  const before = isObject(original.metadata) ? original.metadata : {};
  const after = isObject(metadata) ? metadata : undefined;
  for (const [name, shownName] of SAME)
    if (textOf(before[name]) !== textOf(after?.[name]))
      throw new InvalidConversion(
        `returned invalid object: must have the same ${shownName}: ${textOf(before[name])} != ${textOf(after?.[name])}`,
      );
  if (!after) throw new InvalidConversion("returned invalid metadata: missing metadata in converted object");
  const { labels: _labels, annotations: _annotations, ...rest } = before;
  return {
    ...converted,
    metadata: { ...rest, ...textsIn(after, "labels", before), ...textsIn(after, "annotations", before) },
  };
}

const SAME = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;
function textsIn(after: JsonObject, name: "labels" | "annotations", before: JsonObject): JsonObject {
  const texts = after[name];
  if (texts === undefined || texts === null) return {};
  if (!isObject(texts)) throw new InvalidConversion(`returned invalid metadata: metadata.${name} is not an object`);
  for (const [key, value] of Object.entries(texts))
    if (typeof value !== "string")
      throw new InvalidConversion(`returned invalid metadata: metadata.${name}[${key}] must be a string`);
  // Values that were stored are valid.
  if (!equalJson(texts, before[name])) {
    const problems = [...problemsOf(name, texts)];
    if (problems.length > 0) throw new InvalidConversion(`returned invalid metadata: ${problems.join(", ")}`);
  }
  return { [name]: texts };
}

function* problemsOf(name: "labels" | "annotations", texts: JsonObject): Generator<string> {
  const path = name === "labels" ? "metadata.labels" : "metadata.annotation";
  for (const [key, value] of Object.entries(texts)) {
    const keyProblems = name === "labels" ? labelKeyProblems(key) : annotationKeyProblems(key);
    for (const problem of keyProblems) yield fieldErrorText([field.invalid(path, key, problem)]);
    if (name === "labels")
      for (const problem of labelValueProblems(textOf(value)))
        yield fieldErrorText([field.invalid(path, value, problem)]);
  }
}

/** `example.com/v1, Kind=Foo`, as kube-apiserver writes it. */
export function shownKind({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(textOf(apiVersion));
  return `${group}/${version}, Kind=${textOf(kind)}`;
}
