/**
 * ResourceInterpreterContext, the body of a request and its response in Karmada's webhook protocol. `answers.ts` reads
 * the results of an operation.
 */
import { gvkOf } from "@flotilla/apimachinery";
import { isObject, messageOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { AnyObject } from "../interpreter.ts";
import type { Operation, StatusItem } from "@flotilla/kubernetes";
import { WebhookError } from "./webhook-error.ts";

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
export function renderRequest(
  uid: string,
  { operation, object, observed, replicas = 0, items = [] }: Question,
): Buffer {
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
      `the response is for another request: response.uid must be the uid of the request, but it is ${answered === "" || answered === undefined ? "missing" : "different"}`,
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
  const context = parseJson(answer, "the response");
  if (!isObject(context)) throw new WebhookError("answer", "the response is not an object");
  return context;
}

/** No manifest needs deeper nesting, which could overflow the stack of recursive code. */
const MAX_DEPTH = 1000;

/** Throws `WebhookError` for invalid JSON or excessive nesting. `what` starts the message. */
export function parseJson(bytes: Buffer, what: string): Json {
  // Checked before parsing: parsing four megabytes of brackets takes half a second.
  if (nestsDeeperThan(MAX_DEPTH, bytes))
    throw new WebhookError("answer", `${what} is nested more than ${MAX_DEPTH} levels deep`);
  try {
    return JSON.parse(bytes.toString("utf8")) as Json;
  } catch (error) {
    throw new WebhookError("answer", `${what} is not JSON (${messageOf(error).slice(0, MAX_SHOWN)})`);
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts brackets outside strings. */
function nestsDeeperThan(limit: number, bytes: Buffer): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (isInText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    // With this bit set, [ becomes { and ] becomes }.
    else if (((code ?? 0) | 32) === 123 && ++depth > limit) return true;
    else if (((code ?? 0) | 32) === 125) depth--;
  }
  return false;
}

/** Webhook messages are written to conditions and logs, so they are truncated. */
const MAX_SHOWN = 512;

export function shown(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
