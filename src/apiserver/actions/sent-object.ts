/**
 * The object that is sent to a review or an action: read and completed like one that is to be stored, with its field
 * managers.
 */
import { canonicalObject } from "../../api/index.ts";
import type { KubernetesObject } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { Clock, Json, JsonObject } from "../../base/index.ts";
import type { RequestContext } from "../context.ts";
import { reportFields } from "../write/field-validation.ts";
import { checkIdentity } from "../write/identity.ts";
import { trackFields } from "../write/managed-fields.ts";
import { metadataOf } from "../write/metadata.ts";
import { writeOptions } from "../request/options.ts";
import type { Input } from "../operations.ts";
import { ordered } from "../read/render.ts";

export interface SentObjectOptions {
  clock: Clock;
  /** The table of facts that its kind is in. */
  facts: string;
  /** Fills in what counts as sent. */
  complete?(object: JsonObject): JsonObject;
  /** The sender's uid means something. */
  keepsUid?: boolean;
}

/** `context.served` is the kind that is sent. A status is the server's to give and does not come back. */
export function readSent(
  context: RequestContext,
  input: Input,
  { clock, facts, complete, keepsUid = false }: SentObjectOptions,
): JsonObject {
  const { served, namespace } = context;
  const { kind } = served.resource;
  const options = writeOptions(context, "CreateOptions");
  const body = input.object();
  checkIdentity(context, body.object, undefined);
  const canonical = canonicalObject<KubernetesObject>(facts, kind.kind, {
    ...body.object,
    apiVersion: served.apiVersion,
    kind: kind.kind,
  } as unknown as KubernetesObject) as unknown as JsonObject;
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
      ...(served.resource.namespaced && namespace !== undefined && { namespace }),
      ...(keepsUid && uid !== undefined && { uid }),
    },
  };
  const completed = complete ? complete(object) : object;
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

/** Whoever sends a status is on record for it, though nobody takes it over. */
function sentStatus({ status: sent }: JsonObject, status: Json | undefined): JsonObject {
  if (!isObject(sent) || !isObject(status)) return {};
  const known = Object.entries(status).filter(([key]) => Object.hasOwn(sent, key));
  return known.length === 0 ? {} : { status: Object.fromEntries(known) };
}
