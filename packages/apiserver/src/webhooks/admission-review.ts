/** AdmissionReview, the question to a webhook and its answer (`admission.k8s.io/v1`, and v1beta1 for older webhooks). */
import { ApiError } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { parseWebhookJson, shown, WebhookError } from "@flotilla/client";
import { isNamespaceKind } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { GroupVersionKind, WebhookRequest } from "./webhook-request.ts";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";
export const REVIEW_VERSIONS = ["v1", "v1beta1"] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** What a webhook is asked: the request in the version that its rules name. */
export interface Question {
  readonly uid: string;
  readonly request: WebhookRequest;
  /** The version in which the webhook is sent the objects. */
  readonly served: ServedVersion;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

export function renderReview(version: ReviewVersion, question: Question): Buffer {
  return Buffer.from(
    JSON.stringify({ kind: KIND, apiVersion: `${GROUP}/${version}`, request: requestFields(question) }),
  );
}

/** The fields of the request, also for the expressions of match conditions. */
export function requestFields({ uid, request, served, object, oldObject }: Question): JsonObject {
  const { context, operation, name, dryRun, options } = request;
  const { subresource, user } = context;
  const fields: JsonObject = {
    uid,
    kind: kindIn(request, served) as unknown as JsonObject,
    resource: resourceIn(served),
    requestKind: kindIn(request, context.served) as unknown as JsonObject,
    requestResource: resourceIn(context.served),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid !== undefined && { uid: user.uid }),
      groups: [...user.groups],
      ...(user.extra && { extra: Object.fromEntries(Object.entries(user.extra).map(([key, all]) => [key, [...all]])) }),
    },
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: options ?? null,
  };
  if (subresource !== undefined) Object.assign(fields, { subResource: subresource, requestSubResource: subresource });
  if (name !== undefined) fields.name = name;
  // A Namespace is in itself.
  const namespace = isNamespaceKind(context.served.resource) ? name : context.namespace;
  if (namespace !== undefined) fields.namespace = namespace;
  return fields;
}

function kindIn({ kind }: WebhookRequest, { resource, version }: ServedVersion): GroupVersionKind {
  return kind ?? { group: resource.kind.group, version, kind: resource.kind.kind };
}

const resourceIn = ({ resource: { name }, version }: ServedVersion): JsonObject => ({
  group: name.group,
  version,
  resource: name.resource,
});

export interface Verdict {
  readonly isAllowed: boolean;
  readonly status: JsonObject;
  /** The operations of a JSON patch. */
  readonly patch: Json | undefined;
  readonly warnings: readonly string[];
}

/** Reads the answer to the question with this uid. Throws `WebhookError` if it does not follow the protocol. */
export function readVerdict(answer: Buffer, version: ReviewVersion, uid: string): Verdict {
  const review = parseWebhookJson(answer, "the response");
  if (!isObject(review)) throw invalidAnswer("the response is not an object");
  const { apiVersion, kind, response } = review;
  const isNamed = kind !== undefined || apiVersion !== undefined;
  // In v1beta1 the answer need not name its kind.
  if ((version === "v1" || isNamed) && (kind !== KIND || apiVersion !== `${GROUP}/${version}`))
    throw invalidAnswer(`expected ${KIND} of ${GROUP}/${version}, got ${shown(kind)} of ${shown(apiVersion)}`);
  if (!isObject(response)) throw invalidAnswer("webhook response was absent");
  const { allowed, status, warnings } = response;
  if (version === "v1" && response.uid !== uid) throw invalidAnswer("response.uid is not the uid of the request");
  return {
    isAllowed: allowed === true,
    status: isObject(status) ? status : {},
    patch: readPatch(response, version),
    warnings: Array.isArray(warnings) ? warnings.filter((text) => typeof text === "string") : [],
  };
}

function readPatch({ patch, patchType }: JsonObject, version: ReviewVersion): Json | undefined {
  const isEmpty = patch === undefined || patch === null || patch === "";
  if (patchType === undefined || patchType === null) {
    if (isEmpty) return undefined;
    if (version === "v1") throw invalidAnswer("webhook returned response.patch but not response.patchType");
  } else if (patchType !== "JSONPatch") throw invalidAnswer(`unsupported patch type ${shown(patchType)}`);
  if (isEmpty) {
    if (version === "v1") throw invalidAnswer("webhook returned response.patchType but not response.patch");
    return undefined;
  }
  if (typeof patch !== "string") throw invalidAnswer("response.patch is not text");
  return parseWebhookJson(Buffer.from(patch, "base64"), "response.patch");
}

const invalidAnswer = (problem: string): WebhookError => new WebhookError("answer", problem);

/** The error for a denied request. Code, reason and details are those of the webhook, unless they mean success. */
export function denial(webhook: string, { code, message, reason, details }: JsonObject): ApiError {
  const why = [message, reason].find((text): text is string => typeof text === "string" && text !== "");
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `admission webhook ${JSON.stringify(webhook)} denied the request${why === undefined ? " without explanation" : `: ${why}`}`,
    reason: typeof reason === "string" && reason !== "" ? reason : undefined,
    details: isObject(details) ? details : undefined,
    code: typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599 ? code : 400,
  });
}
