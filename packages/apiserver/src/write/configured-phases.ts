/** The phases of admission with policies and webhooks of the cluster, for objects that are written or deleted. */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { metadataOf } from "../codec/metadata.ts";
import { queriedOptions } from "../admission-match/admission-request.ts";
import type { AdmissionRequest, GroupVersionKind } from "../admission-match/admission-request.ts";
import { admitUnstored } from "../configured-admission/configured-admission.ts";
import type { Configured, ConfiguredAdmission } from "../configured-admission/configured-admission.ts";
import type { Decisions } from "../request/decisions.ts";
import type { ReviewRequest, ServerReview } from "./review.ts";

/** Another form in which clients write an object, and in which policies and webhooks see it: the Scale of a Deployment. */
export interface SeenAs {
  readonly kind: GroupVersionKind;
  of(object: JsonObject): JsonObject;
  /** The object with what they changed in the other form. */
  into(object: JsonObject, seen: JsonObject): JsonObject;
}

export interface ConfiguredPhases {
  readonly admission: ConfiguredAdmission;
  readonly found: Configured;
  readonly request: ReviewRequest & { seenAs?: SeenAs | undefined };
  readonly review: ServerReview;
}

/**
 * Continues with the object as policies and webhooks changed it. `completeAgain` does what the server did with the sent
 * object, and sets the object of the review.
 */
export function mutateByConfigured(
  { admission, found, request, review }: ConfiguredPhases,
  completeAgain: (object: JsonObject) => Promise<JsonObject>,
): Promise<void> | undefined {
  const sent = review.object;
  const form = formOf(request, unstoredForm(sent, request));
  return admission
    .mutate(found, admissionRequest(review.decisions, request, form.of(sent)), async (seen) =>
      form.of(await completeAgain(form.into(sent, seen))),
    )
    ?.then(() => {});
}

export function validateByConfigured({
  admission,
  found,
  request,
  review,
}: ConfiguredPhases): Promise<void> | undefined {
  const form = formOf(request, storedForm(request));
  return admission.validate(found, admissionRequest(review.decisions, request, form.of(review.object)));
}

/** Deletions: a mutating webhook is called too, but has nothing to change. */
export async function admitConfiguredDeletion({ admission, found, request, review }: ConfiguredPhases): Promise<void> {
  await admitUnstored(admission, found, admissionRequest(review.decisions, request, undefined));
}

/** Deletions of the server itself, such as garbage collection, come without options. */
const OPTIONS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

function admissionRequest(
  decisions: Decisions,
  { context, operation, options: { dryRun }, oldObject, seenAs, sentOptions }: ConfiguredPhases["request"],
  object: JsonObject | undefined,
): AdmissionRequest {
  const { name } = object ? metadataOf(object) : context;
  return {
    context,
    decisions,
    operation,
    kind: seenAs?.kind,
    name: typeof name === "string" && name !== "" ? name : undefined,
    dryRun,
    options: sentOptions ?? queriedOptions(context, OPTIONS[operation]),
    object,
    oldObject: oldObject && (seenAs?.of(oldObject) ?? oldObject),
  };
}

type Form = Pick<SeenAs, "of" | "into">;

const formOf = ({ seenAs }: ConfiguredPhases["request"], own: Form): Form =>
  seenAs ? { of: (object) => seenAs.of(own.of(object)), into: (object, seen) => seenAs.into(object, seen) } : own;

/** Until an object is stored it has no resourceVersion here, but clients and webhooks expect the one that it replaces. */
function storedForm({ oldObject }: ReviewRequest): Form {
  const { resourceVersion } = oldObject ? metadataOf(oldObject) : {};
  return {
    of: (object) => (resourceVersion === undefined ? object : withFields(object, { resourceVersion })),
    into: (sent, seen) => withFields(withoutFields(seen, ["resourceVersion"]), identityOf(sent)),
  };
}

/**
 * Mutating policies and webhooks do not see what the server has already given a new object, as with kube-apiserver. They may
 * give a name to an object whose name was generated.
 */
function unstoredForm(sent: JsonObject, request: ReviewRequest): Form {
  if (request.operation !== "CREATE") return storedForm(request);
  const { uid, creationTimestamp, generation, name, namespace } = metadataOf(sent);
  const given = defined({ uid, creationTimestamp, generation });
  const generated = request.hasGeneratedName ? name : undefined;
  return {
    of: (object) => {
      const isUnnamed = generated !== undefined && metadataOf(object).name === generated;
      return withoutFields(object, [...Object.keys(given), ...(isUnnamed ? ["name"] : [])]);
    },
    into: (_, seen) =>
      withFields(seen, { ...given, ...defined({ namespace, name: metadataOf(seen).name ?? generated }) }),
  };
}

/** The part of the metadata that cannot change in an object that exists. A new object may still be renamed, but not moved. */
function identityOf(object: JsonObject): JsonObject {
  const { name, namespace, uid, creationTimestamp } = metadataOf(object);
  return defined({ name, namespace, uid, creationTimestamp });
}

function withoutFields(object: JsonObject, names: readonly string[]): JsonObject {
  const metadata = { ...metadataOf(object) };
  for (const name of names) delete metadata[name];
  return { ...object, metadata };
}

function withFields(object: JsonObject, fields: JsonObject): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), ...fields } };
}
