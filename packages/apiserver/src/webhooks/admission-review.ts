/** AdmissionReview, the question to a webhook and its answer (`admission.k8s.io/v1`, and v1beta1 for older webhooks). */
import { ApiError } from "@flotilla/apimachinery";
import { isObject, messageOf, parseExactJson } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { parseWebhookJson, shown, WebhookError } from "@flotilla/client";
import { requestFields } from "../admission-match/request-fields.ts";
import type { AdmissionQuestion } from "../admission-match/request-fields.ts";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";
export const REVIEW_VERSIONS = ["v1", "v1beta1"] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** Each call of a webhook has a uid of its own. */
export type ReviewQuestion = AdmissionQuestion & { readonly uid: string };

export const renderReview = (version: ReviewVersion, question: ReviewQuestion): Buffer =>
  renderReviewOf(version, question.uid, renderFields(question));

/** `fields` is an object in JSON: the request of the review without its uid. */
export const renderReviewOf = (version: ReviewVersion, uid: string, fields: string): Buffer =>
  Buffer.from(
    `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":{"uid":${JSON.stringify(uid)},${fields.slice(1)}}`,
  );

/** The last rendering of a request: webhooks that are asked about the same objects differ in the uid alone. */
const rendered = new WeakMap<AdmissionRequest, { question: AdmissionQuestion; text: string }>();

function renderFields(question: AdmissionQuestion): string {
  const { request, served, object, oldObject } = question;
  const known = rendered.get(request);
  if (
    known &&
    known.question.served === served &&
    known.question.object === object &&
    known.question.oldObject === oldObject
  )
    return known.text;
  const text = JSON.stringify(requestFields(question));
  rendered.set(request, { question: { request, served, object, oldObject }, text });
  return text;
}

export interface Verdict {
  readonly isAllowed: boolean;
  readonly status: JsonObject;
  /** The operations of a JSON patch. */
  readonly patch: Json | undefined;
  readonly warnings: readonly string[];
  /** For the audit log. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The patch of a response is not a list of operations. */
export class UndecodablePatchError extends WebhookError {}

/** Reads the answer to the question with this uid. Throws `WebhookError` if it does not follow the protocol. */
export function readVerdict(
  answer: Buffer,
  { version, type, uid }: { version: ReviewVersion; type: "mutating" | "validating"; uid: string },
): Verdict {
  const review = parseWebhookJson(answer, "the response");
  if (!isObject(review)) throw invalidAnswer("the response is not an object");
  const { apiVersion, kind, response } = review;
  const isNamed = kind !== undefined || apiVersion !== undefined;
  // In v1beta1 the answer need not name its kind.
  if ((version === "v1" || isNamed) && (kind !== KIND || apiVersion !== `${GROUP}/${version}`))
    throw invalidAnswer(`expected ${KIND} of ${GROUP}/${version}, got ${shown(kind)} of ${shown(apiVersion)}`);
  if (!isObject(response)) throw invalidAnswer("webhook response was absent");
  const { allowed, status, warnings, auditAnnotations } = response;
  if (version === "v1" && response.uid !== uid)
    throw invalidAnswer(`expected response.uid=${JSON.stringify(uid)}, got ${shown(response.uid)}`);
  return {
    isAllowed: allowed === true,
    status: isObject(status) ? status : {},
    patch: type === "mutating" ? readPatch(response, version) : withoutPatch(response, version),
    warnings: Array.isArray(warnings) ? warnings.filter((text) => typeof text === "string") : [],
    auditAnnotations: isObject(auditAnnotations)
      ? Object.fromEntries(
          Object.entries(auditAnnotations).flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])),
        )
      : {},
  };
}

function readPatch({ patch, patchType }: JsonObject, version: ReviewVersion): Json | undefined {
  const isEmpty = isAbsent(patch) || patch === "";
  // In v1beta1 the type is not looked at.
  if (version === "v1") {
    if (!isEmpty && isAbsent(patchType))
      throw invalidAnswer("webhook returned response.patch but not response.patchType");
    if (isEmpty && !isAbsent(patchType))
      throw invalidAnswer("webhook returned response.patchType but not response.patch");
    if (!isEmpty && patchType !== "JSONPatch") throw invalidAnswer(`unsupported patch type ${shown(patchType)}`);
  }
  if (isEmpty) return undefined;
  if (typeof patch !== "string") throw invalidAnswer("response.patch is not text");
  const operations = parseOperations(patch);
  return operations.length === 0 ? undefined : operations;
}

function parseOperations(patch: string): Json[] {
  try {
    const operations = parseWebhookJson(Buffer.from(patch, "base64"), "response.patch", parseExactJson) ?? [];
    if (Array.isArray(operations) && operations.every(isObject)) return operations;
  } catch (error) {
    throw new UndecodablePatchError("answer", messageOf(error), { cause: error });
  }
  throw new UndecodablePatchError("answer", "response.patch is not a list of operations");
}

function withoutPatch({ patch, patchType }: JsonObject, version: ReviewVersion): undefined {
  if (version !== "v1") return;
  if (!isAbsent(patch) && patch !== "") throw invalidAnswer("validating webhook may not return response.patch");
  if (!isAbsent(patchType)) throw invalidAnswer("validating webhook may not return response.patchType");
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

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
