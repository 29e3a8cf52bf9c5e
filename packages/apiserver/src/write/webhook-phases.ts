/** The phases of admission in which webhooks are asked, about objects that are written or deleted. */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { metadataOf } from "../codec/metadata.ts";
import type { AdmissionWebhooks } from "../webhooks/admission-webhooks.ts";
import type { Candidates } from "../webhooks/registrations.ts";
import { queriedOptions } from "../admission-match/admission-request.ts";
import type { GroupVersionKind, AdmissionRequest } from "../admission-match/admission-request.ts";
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
  const sent = review.object;
  const form = formOf(request, unstoredForm(sent, request));
  await webhooks.mutate(candidates, askAbout(request, form.of(sent)), async (seen) =>
    form.of(await completeAgain(form.into(sent, seen))),
  );
}

export function validateByWebhooks({
  webhooks,
  candidates,
  request,
  review,
}: WebhookPhases): Promise<void> | undefined {
  if (candidates.validating.length === 0) return undefined;
  const form = formOf(request, storedForm(request));
  return webhooks.validate(candidates, askAbout(request, form.of(review.object)));
}

/** Deletions: a mutating webhook is asked too, but has nothing to change. */
export async function askAboutDeletion({ webhooks, candidates, request }: WebhookPhases): Promise<void> {
  const asked = askAbout(request, undefined);
  await webhooks.mutate(candidates, asked, (object) => object);
  await webhooks.validate(candidates, asked);
}

function askAbout(
  { context, operation, options: { dryRun }, oldObject, seenAs, sentOptions }: WebhookPhases["request"],
  object: JsonObject | undefined,
): AdmissionRequest {
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

type Form = Pick<SeenAs, "of" | "into">;

const formOf = ({ seenAs }: WebhookPhases["request"], own: Form): Form =>
  seenAs ? { of: (object) => seenAs.of(own.of(object)), into: (object, seen) => seenAs.into(object, seen) } : own;

/** Until an object is stored it has no resourceVersion here, but clients and webhooks expect the one that it replaces. */
function storedForm({ oldObject }: ReviewRequest): Form {
  const { resourceVersion } = oldObject ? metadataOf(oldObject) : {};
  return {
    of: (object) => (resourceVersion === undefined ? object : withFields(object, { resourceVersion })),
    into: (_, seen) => withoutFields(seen, ["resourceVersion"]),
  };
}

/** Mutating webhooks do not see what the server has already given a new object, as with kube-apiserver. */
function unstoredForm(sent: JsonObject, request: ReviewRequest): Form {
  if (request.operation !== "CREATE") return storedForm(request);
  const { uid, creationTimestamp, generation, name, generateName } = metadataOf(sent);
  const isGenerated = request.context.name === undefined && typeof generateName === "string" && generateName !== "";
  const given = defined({ uid, creationTimestamp, generation, name: isGenerated ? name : undefined });
  return {
    of: (object) => withoutFields(object, Object.keys(given)),
    into: (_, seen) => withFields(seen, given),
  };
}

function withoutFields(object: JsonObject, names: readonly string[]): JsonObject {
  const metadata = { ...metadataOf(object) };
  for (const name of names) delete metadata[name];
  return { ...object, metadata };
}

function withFields(object: JsonObject, fields: JsonObject): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), ...fields } };
}
