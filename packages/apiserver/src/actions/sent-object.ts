/**
 * Reads the object sent to a review or action: decoded and defaulted like an object to be stored, with its field
 * managers.
 */
import { canonicalObject, gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { Decisions } from "../request/decisions.ts";
import { reportFields } from "../write/field-validation.ts";
import { checkIdentity } from "../write/identity.ts";
import { trackFields } from "../write/managed-fields.ts";
import { metadataOf } from "../codec/metadata.ts";
import { writeOptions } from "../request/options.ts";
import { queriedOptions } from "../admission-match/admission-request.ts";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import { admitUnstored } from "../configured-admission/configured-admission.ts";
import type { ActionDependencies, Input } from "./action.ts";
import { ordered } from "../codec/render.ts";

export interface SentObjectOptions {
  clock: Clock;
  /** The table of facts that contains its kind. */
  facts: string;
  /** Applies defaults that count as sent. */
  complete?(object: JsonObject): JsonObject;
  /** Keeps the uid that the client sent. */
  keepsUid?: boolean;
}

/**
 * `context.served` is the kind of the request body. The server sets the status, so the sent one is dropped. A large body
 * is read in steps, as one that is stored.
 */
export async function readSent(
  context: RequestContext,
  input: Input,
  { clock, facts, complete, keepsUid = false }: SentObjectOptions,
): Promise<JsonObject> {
  const { served, namespace } = context;
  const { kind } = served.resource;
  const options = writeOptions(context, "CreateOptions");
  const body = input.object();
  checkIdentity(context, body.object, undefined);
  if (context.pause) await context.pause();
  const canonical = canonicalObject<KubernetesObject>(facts, kind.kind, {
    ...body.object,
    apiVersion: served.apiVersion,
    kind: kind.kind,
  } as unknown as KubernetesObject) as unknown as JsonObject;
  if (context.pause) await context.pause();
  const unknown: string[] = [];
  const { status, ...admitted } = served.compiled.admit(
    canonical,
    options.fieldValidation === "Ignore" ? {} : { unknownFields: unknown },
  );
  reportFields(unknown, body, context, options);
  const {
    uid,
    creationTimestamp: _c,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _g,
    selfLink: _s,
    namespace: _n,
    managedFields,
    ...metadata
  } = metadataOf(admitted);
  const object: JsonObject = {
    ...admitted,
    metadata: {
      ...metadata,
      ...defined({
        namespace: served.resource.namespaced && namespace !== undefined ? namespace : undefined,
        uid: keepsUid && uid !== undefined ? uid : undefined,
      }),
    },
  };
  const completed = complete ? complete(object) : object;
  if (context.pause) await context.pause();
  const { status: _, ...tracked } = trackFields(
    context,
    clock,
    options.fieldManager,
    undefined,
    { ...completed, ...sentStatus(body.object, status) },
    managedFields,
  );
  return ordered(tracked);
}

/**
 * The sent object, after policies and webhooks of the resource. They see it as a create, with the status that it has
 * before the server fills it in.
 */
export async function admitSent(
  { configured, authorizer }: Pick<ActionDependencies, "configured" | "authorizer">,
  context: RequestContext,
  object: JsonObject,
  emptyStatus?: JsonObject,
): Promise<JsonObject> {
  const found = configured.find(context, "CREATE");
  if (!found) return object;
  const { dryRun } = writeOptions(context, "CreateOptions");
  const kind = gvkOf(object as unknown as KubernetesObject);
  const request: AdmissionRequest = {
    context,
    decisions: new Decisions(authorizer),
    operation: "CREATE",
    kind,
    name: context.name,
    dryRun,
    options: queriedOptions(context, "CreateOptions"),
    object: emptyStatus ? { ...object, status: emptyStatus } : object,
    oldObject: undefined,
  };
  const admitted = await admitUnstored(configured, found, request);
  return admitted === request.object || !admitted ? object : admitted;
}

/** The sender of a status is recorded as its field manager, although the status is dropped. */
function sentStatus({ status: sent }: JsonObject, status: Json | undefined): JsonObject {
  if (!isObject(sent) || !isObject(status)) return {};
  const known = Object.entries(status).filter(([key]) => Object.hasOwn(sent, key));
  return known.length === 0 ? {} : { status: Object.fromEntries(known) };
}
