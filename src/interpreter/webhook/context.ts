/**
 * ResourceInterpreterContext, the body of a call and of its answer, as Karmada's webhooks know it. What an answer says
 * about an operation is read by `answers.ts`.
 */
import { gvkOf } from "../../api/index.ts";
import { isObject, messageOf } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import type { AnyObject } from "../interpreter.ts";
import type { StatusItem } from "../kind-interpreter.ts";
import type { Operation } from "../operations.ts";
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

/** `replicas` is there whatever is asked: Karmada sends it so, and a webhook may count on it. */
export function renderRequest(
  uid: string,
  { operation, object, observed, replicas = 0, items = [] }: Question,
): Buffer {
  const { namespace, name } = object.metadata;
  const request = {
    uid,
    kind: gvkOf(object),
    name,
    ...(namespace && { namespace }),
    operation,
    object,
    ...(observed && { observedObject: observed }),
    replicas,
    ...(items.length > 0 && { aggregatedStatus: items }),
  };
  return Buffer.from(JSON.stringify({ kind: KIND, apiVersion: API_VERSION, request }));
}

/**
 * The `response` of an answer to the request with this uid. Throws `WebhookError` also when it says that it was not
 * successful.
 */
export function readResponse(answer: Buffer, uid: string): JsonObject {
  const { apiVersion, kind, response } = parse(answer);
  // Karmada's own library answers without saying what the answer is.
  if ((kind && kind !== KIND) || (apiVersion && apiVersion !== API_VERSION))
    throw new WebhookError(
      "answer",
      `the answer is a ${shown(kind)} of ${shown(apiVersion)}, not a ${KIND} of ${API_VERSION}`,
    );
  if (!isObject(response)) throw new WebhookError("answer", "the answer has no response");
  const { uid: answered, successful = null, status } = response;
  if (typeof successful !== "boolean" && successful !== null)
    throw new WebhookError("answer", "response.successful is neither true nor false");
  // A webhook that could not read the request does not know its uid, and what it says about that is worth more. Without
  // the uids themselves: the same failure must read the same each time, or telling it would be news again and again.
  if (answered !== uid && (successful === true || answered))
    throw new WebhookError(
      "answer",
      `the answer is for another request: response.uid must be the uid of the request and is ${answered === "" || answered === undefined ? "not there" : "another"}`,
    );
  if (!successful) throw refusal(status);
  return response;
}

function refusal(status: Json | undefined): WebhookError {
  if (!isObject(status))
    return new WebhookError("answer", "response.successful is not true, and response.status does not say why");
  const { code, message } = status;
  return new WebhookError(
    "refused",
    `it could not do it (code ${typeof code === "number" ? code : 0}): ${shown(message ?? "")}`,
  );
}

function parse(answer: Buffer): JsonObject {
  if (answer.length === 0) throw new WebhookError("answer", "the answer is empty");
  const context = parseJson(answer, "the answer");
  if (!isObject(context)) throw new WebhookError("answer", "the answer is not an object");
  return context;
}

/** Nothing that a manifest needs is deeper; what is would end the stack of whoever walks through it. */
const MAX_DEPTH = 1000;

/** Throws `WebhookError` for what is no JSON, or is nested for the sake of it. `what` begins the message. */
export function parseJson(bytes: Buffer, what: string): Json {
  // Looked at before parsing: to parse four megabytes of brackets takes half a second.
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

/** Counts brackets outside of strings. */
function nestsDeeperThan(limit: number, bytes: Buffer): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (isInText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    // With this bit set, [ is { and ] is }.
    else if (((code ?? 0) | 32) === 123 && ++depth > limit) return true;
    else if (((code ?? 0) | 32) === 125) depth--;
  }
  return false;
}

/** What a webhook says goes into conditions and logs, so not all of it does. */
const MAX_SHOWN = 512;

export function shown(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
