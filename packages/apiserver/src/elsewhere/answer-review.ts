/**
 * Answers the AdmissionReviews of another API server. What is asked may come from anywhere, so nothing in it is relied on
 * before it was checked; it can only be answered, never stored.
 */
import { ApiError, badRequest, HUB, jsonPatchBetween, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, Operation, Status } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { AdmissionElsewhere, WriteElsewhere } from "./admit-elsewhere.ts";

export interface ReviewAnswerOptions {
  admission: AdmissionElsewhere;
  /** The kind as this process knows it; undefined for kinds of others. */
  kindOf(group: string, kind: string): Kind | undefined;
  /** Whether a user is one of the controllers of this hub. */
  isController(user: WriteElsewhere["user"]): boolean;
  /** The version in which steps see an object, for versions that have no type of their own. */
  shownVersion?(group: string, version: string): string;
}

export interface ReviewAnswers {
  mutate(review: unknown): Promise<JsonObject>;
  validate(review: unknown): Promise<JsonObject>;
}

/** An API server shows no more in a response. */
const MAX_WARNINGS = 20;
const OPERATIONS: ReadonlySet<unknown> = new Set<Operation>(["CREATE", "UPDATE", "DELETE"]);

/** Both throw 400 for what is not an AdmissionReview. */
export function createReviewAnswers(options: ReviewAnswerOptions): ReviewAnswers {
  const answer = async (
    review: unknown,
    ask: (write: WriteElsewhere, warn: (text: string) => void) => Promise<JsonObject | undefined>,
  ): Promise<JsonObject> => {
    const { uid, write } = readReview(review, options);
    const warnings = new Set<string>();
    const warn = (text: string): void => {
      if (warnings.size < MAX_WARNINGS) warnings.add(text);
    };
    const response = await ask(write, warn).catch((error: unknown) => denial(error));
    const given = { uid, allowed: true, ...response };
    return {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: warnings.size > 0 ? { ...given, warnings: [...warnings] } : given,
    };
  };
  return {
    mutate: (review) =>
      answer(review, async (write, warn) => {
        const changed = await options.admission.mutate(write, warn);
        const operations = jsonPatchBetween(write.object, changed);
        if (operations.length === 0) return undefined;
        return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") };
      }),
    validate: (review) =>
      answer(review, async (write, warn) => {
        await options.admission.validate(write, warn);
        return undefined;
      }),
  };
}

/** The API server adds which webhook denied the request; our own errors may say it already. */
const DENIED = /^admission webhook "[^"]*" denied the request: /;

function denial(error: unknown): JsonObject {
  if (!(error instanceof ApiError)) throw error;
  const { status } = error;
  const message = (status.message ?? "").replace(DENIED, "");
  return { allowed: false, status: { ...withoutUndefined(status), message } };
}

const withoutUndefined = (status: Status): JsonObject => JSON.parse(JSON.stringify(status)) as JsonObject;

function readReview(review: unknown, options: ReviewAnswerOptions): { uid: string; write: WriteElsewhere } {
  const request = isObject(review) && review["kind"] === "AdmissionReview" ? review["request"] : undefined;
  if (!isObject(request)) throw badRequest("the body is not an AdmissionReview with a request");
  const { uid, operation, object, oldObject, dryRun, options: sent, subResource } = request;
  if (typeof uid !== "string" || !OPERATIONS.has(operation))
    throw badRequest(
      "the request of an AdmissionReview needs a uid, and an operation that stores or deletes an object",
    );
  const seen = operation === "DELETE" ? oldObject : object;
  if (!isObject(seen) || !isObject(seen["metadata"]))
    throw badRequest("the request of an AdmissionReview needs an object with metadata");
  const { kind, resource } = request;
  const [kindName, resourceName] = [textsOf(kind), textsOf(resource)];
  const group = kindName["group"] ?? "";
  const version = options.shownVersion?.(group, kindName["version"] ?? "") ?? kindName["version"] ?? "";
  const user = readUser(request["userInfo"]);
  const namespace = textOf(request["namespace"]);
  const shown = (item: JsonObject): JsonObject => withVersion(item, group, version);
  return {
    uid,
    write: {
      operation: operation as Operation,
      cluster: HUB,
      kind:
        options.kindOf(group, kindName["kind"] ?? "") ??
        unknownKind(group, version, kindName["kind"] ?? "", resourceName["resource"] ?? "", namespace !== undefined),
      version,
      namespace,
      name: textOf(request["name"]),
      subresource: textOf(subResource),
      user,
      byController: options.isController(user) ? true : undefined,
      object: shown(seen),
      oldObject: isObject(oldObject) ? shown(oldObject) : undefined,
      dryRun: dryRun === true,
      isPatch: isObject(sent) && sent["kind"] === "PatchOptions",
    },
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const textsOf = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])),
      )
    : {};

function readUser(value: unknown): WriteElsewhere["user"] {
  const { username, uid, groups, extra } = isObject(value) ? value : {};
  const texts = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
  return {
    name: textOf(username) ?? "",
    uid: textOf(uid),
    groups: texts(groups),
    extra: isObject(extra)
      ? Object.fromEntries(Object.entries(extra).map(([key, list]) => [key, texts(list)]))
      : undefined,
  };
}

function withVersion(object: DeepReadonly<JsonObject>, group: string, version: string): JsonObject {
  const { apiVersion } = object;
  if (typeof apiVersion !== "string" || parseApiVersion(apiVersion).version === version) return object as JsonObject;
  return { ...object, apiVersion: `${group}/${version}` };
}

/** For steps that apply to all kinds. */
function unknownKind(group: string, version: string, kind: string, plural: string, isNamespaced: boolean): Kind {
  return {
    group,
    kind,
    plural,
    scope: isNamespaced ? "Namespaced" : "Cluster",
    storageVersion: version,
    versions: {},
    subresources: {},
    builtIn: false,
    foreign: true,
    hasGeneration: true,
  };
}
