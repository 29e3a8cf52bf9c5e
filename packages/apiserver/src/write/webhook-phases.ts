/** The phases of admission in which webhooks are asked, about objects that are written or deleted. */
import type { JsonObject } from "@flotilla/base";
import { metadataOf } from "../codec/metadata.ts";
import type { AdmissionWebhooks } from "../webhooks/admission-webhooks.ts";
import type { Candidates } from "../webhooks/registrations.ts";
import { queriedOptions } from "../webhooks/webhook-request.ts";
import type { GroupVersionKind, WebhookRequest } from "../webhooks/webhook-request.ts";
import type { ReviewRequest, ServerReview } from "./review.ts";

/** Another form in which clients write an object, and in which webhooks see it: the Scale of a Deployment. */
export interface SeenAs {
  readonly kind: GroupVersionKind;
  of(object: JsonObject): JsonObject;
  /** The object with what webhooks changed in the other form. */
  into(object: JsonObject, seen: JsonObject): JsonObject;
}

export interface WebhookPhases {
  readonly webhooks: AdmissionWebhooks;
  readonly candidates: Candidates;
  readonly request: ReviewRequest & { seenAs?: SeenAs | undefined };
  readonly review: ServerReview;
}

/**
 * Continues with the object as mutating webhooks changed it. `completeAgain` does what the server did with the sent
 * object.
 */
export async function mutateByWebhooks(
  { webhooks, candidates, request, review }: WebhookPhases,
  completeAgain: (object: JsonObject) => Promise<JsonObject>,
): Promise<void> {
  if (candidates.mutating.length === 0) return;
  const { seenAs } = request;
  const sent = review.object;
  const hidden = request.operation === "CREATE" ? serverFields(sent, request) : {};
  const shown = (object: JsonObject): JsonObject => seenAs?.of(object) ?? withoutFields(object, hidden);
  const settle = async (seen: JsonObject): Promise<JsonObject> =>
    shown(await completeAgain(seenAs ? seenAs.into(sent, seen) : withFields(seen, hidden)));
  await webhooks.mutate(candidates, askAbout(request, shown(sent)), settle);
}

export function validateByWebhooks({
  webhooks,
  candidates,
  request,
  review,
}: WebhookPhases): Promise<void> | undefined {
  if (candidates.validating.length === 0) return undefined;
  const { object } = review;
  const isDeletion = request.operation === "DELETE";
  const seen = isDeletion ? undefined : (request.seenAs?.of(object) ?? object);
  const asked = askAbout(request, seen);
  const { name } = metadataOf(object);
  return webhooks.validate(
    candidates,
    asked.name === undefined && typeof name === "string" ? { ...asked, name } : asked,
  );
}

/** Deletions: a mutating webhook is asked too, but has nothing to change. */
export async function askAboutDeletion(phases: WebhookPhases): Promise<void> {
  const { webhooks, candidates, request } = phases;
  await webhooks.mutate(candidates, askAbout(request, undefined), (object) => object);
  await validateByWebhooks(phases);
}

function askAbout(
  { context, operation, options: { dryRun }, oldObject, seenAs, sentOptions }: WebhookPhases["request"],
  object: JsonObject | undefined,
): WebhookRequest {
  const { name } = object ? metadataOf(object) : context;
  return {
    context,
    operation,
    kind: seenAs?.kind,
    name: typeof name === "string" && name !== "" ? name : undefined,
    dryRun,
    options: sentOptions ?? queriedOptions(context, operation === "CREATE" ? "CreateOptions" : "UpdateOptions"),
    object,
    oldObject: oldObject && (seenAs?.of(oldObject) ?? oldObject),
  };
}

/** What the server has already given a new object. Mutating webhooks do not see it, as with kube-apiserver. */
function serverFields(object: JsonObject, { context: { name: requested } }: ReviewRequest): JsonObject {
  const { uid, creationTimestamp, generation, name, generateName } = metadataOf(object);
  const isGenerated = requested === undefined && typeof generateName === "string" && generateName !== "";
  const fields: JsonObject = {};
  for (const [key, value] of Object.entries({
    uid,
    creationTimestamp,
    generation,
    name: isGenerated ? name : undefined,
  }))
    if (value !== undefined) fields[key] = value;
  return fields;
}

function withoutFields(object: JsonObject, fields: JsonObject): JsonObject {
  const metadata = { ...metadataOf(object) };
  for (const key of Object.keys(fields)) delete metadata[key];
  return { ...object, metadata };
}

function withFields(object: JsonObject, fields: JsonObject): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), ...fields } };
}
