/**
 * ResourceInterpreterContext, the body of a request and its response in Karmada's webhook protocol. `answers.ts` reads
 * the results of an operation.
 */
import { gvkOf } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { AnyObject } from "../interpreter.ts";
import type { Operation, StatusItem } from "@flotilla/kubernetes";
import { parseWebhookJson, shown, WebhookError } from "@flotilla/client";

export const CONTEXT_VERSION = "v1alpha1";
const API_VERSION = `config.karmada.io/${CONTEXT_VERSION}`;
const KIND = "ResourceInterpreterContext";

export interface Question {
  readonly operation: Operation;
  readonly object: AnyObject;
  /** The member's object, for Retain. */
  readonly observed?: AnyObject;
  /** For ReviseReplica. */
  readonly replicas?: number;
  /** For AggregateStatus. */
  readonly items?: readonly StatusItem[];
}

/** `replicas` is always set: Karmada sends it, and a webhook may rely on it. */
export function renderRequest(uid: string, question: Question): Buffer {
  const { operation, object, observed, replicas = 0, items = [] } = question;
  const { namespace, name } = object.metadata;
  const request = {
    uid,
    kind: gvkOf(object),
    name,
    namespace: namespace || undefined,
    operation,
    object,
    observedObject: observed,
    replicas,
    aggregatedStatus: items.length > 0 ? items : undefined,
  };
  return Buffer.from(JSON.stringify({ kind: KIND, apiVersion: API_VERSION, request }));
}

/** The `response` for the request with this uid. Throws `WebhookError` also if the response is unsuccessful. */
export function readResponse(answer: Buffer, uid: string): JsonObject {
  const { apiVersion, kind, response } = parse(answer);
  // Karmada's own library omits kind and apiVersion in responses.
  if ((kind && kind !== KIND) || (apiVersion && apiVersion !== API_VERSION))
    throw new WebhookError(
      "answer",
      `the response is a ${shown(kind)} of ${shown(apiVersion)}, not a ${KIND} of ${API_VERSION}`,
    );
  if (!isObject(response)) throw new WebhookError("answer", "the body has no response field");
  const { uid: answered, successful = null, status } = response;
  if (typeof successful !== "boolean" && successful !== null)
    throw new WebhookError("answer", "response.successful is neither true nor false");
  // A webhook that could not parse the request does not know its uid, and its error message is more useful than the
  // mismatch. The uids are left out: the same failure must have the same message each time, or it would be reported
  // again on every call.
  if (answered !== uid && (successful === true || answered))
    throw new WebhookError(
      "answer",
      "the response is for another request: response.uid must be the uid of the request, but it is " +
        (answered === "" || answered === undefined ? "missing" : "different"),
    );
  if (!successful) throw refusal(status);
  return response;
}

function refusal(status: Json | undefined): WebhookError {
  if (!isObject(status))
    return new WebhookError("answer", "response.successful is not true, and response.status has no message");
  const { code, message } = status;
  return new WebhookError(
    "refused",
    `the webhook reported a failure (code ${typeof code === "number" ? code : 0}): ${shown(message ?? "")}`,
  );
}

function parse(answer: Buffer): JsonObject {
  if (answer.length === 0) throw new WebhookError("answer", "the response is empty");
  const context = parseWebhookJson(answer, "the response");
  if (!isObject(context)) throw new WebhookError("answer", "the response is not an object");
  return context;
}
