/**
 * Processes an object between the client and the store: the phases of admission, in order, over one state. Where no
 * matching step is asynchronous, nothing is awaited.
 *
 * The order is that of Kubernetes, because clients see it: in error texts, in the managers of fields, in what a step may
 * still change (docs/adr/0010, docs/adr/0026).
 */
import { coerceMetadata, DecodeError, metadataProblem } from "@flotilla/apimachinery";
import type { FieldError, Kind, Operation, SpecPart } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Guard } from "../store/engine.ts";
import type { ChainSteps } from "../admission/chain.ts";
import { after, inOrder } from "../admission/run-steps.ts";
import { complete, mutate, mutateAgain, prepare, VERDICT_PHASES } from "../admission/step-phases.ts";
import type { StepState } from "../admission/step-phases.ts";
import { checkNamespace } from "./namespaces.ts";
import { partOf } from "../resources/resources.ts";
import type { RequestContext } from "../request/context.ts";
import { customErrors, warnAboutCustomObject } from "../crd/objects.ts";
import { ordered } from "../codec/render.ts";
import type { WriteOptions } from "../request/options.ts";
import { textOf } from "../codec/text.ts";
import { reportFields } from "./field-validation.ts";
import type { Findings } from "../codec/decode.ts";
import { repeatMetadataErrors, validateMetadata } from "./metadata.ts";
import { metadataOf } from "../codec/metadata.ts";
import { combine, withoutInitialStatus } from "./written-parts.ts";
import { createReview } from "./review.ts";
import type { ReviewDependencies, ReviewRequest, ServerReview } from "./review.ts";
import { sharedWith } from "./siblings.ts";
import type { Siblings } from "./siblings.ts";
import { admitConfiguredDeletion, mutateByConfigured, validateByConfigured } from "./configured-phases.ts";
import type { ConfiguredPhases, SeenAs } from "./configured-phases.ts";
import type { Configured, ConfiguredAdmission } from "../configured-admission/configured-admission.ts";

export interface AdmitDependencies extends ReviewDependencies {
  siblings: Siblings;
  configured: ConfiguredAdmission;
}

export interface AdmitRequest extends ReviewRequest {
  options: WriteOptions;
  operation: Exclude<Operation, "DELETE">;
  /** Findings from decoding the body. */
  findings: Findings;
  /** Errors found so far. */
  errors: readonly FieldError[];
  /** Set when the client writes the object in another form. */
  seenAs?: SeenAs | undefined;
  /** Receives the objects that admission relied on, and that must be unchanged when the object is stored. */
  guards: Guard[];
  /** Adds field managers to the object. Fields that the server sets afterwards have no manager. */
  track(object: JsonObject): JsonObject | Promise<JsonObject>;
}

/** What the phases share. The object is `review.object`. */
interface AdmissionState extends StepState {
  readonly deps: AdmitDependencies;
  readonly request: AdmitRequest;
  readonly review: ServerReview;
  /** The policies and webhooks whose rules match the request. */
  readonly configured: Configured | undefined;
}

type Phase = (state: AdmissionState) => void | Promise<void>;

/** Between two phases that take long for a large object. */
const pause: Phase = ({ request }) => request.context.pause?.();

const PHASES: readonly Phase[] = [
  makeCanonical,
  pause,
  mutate,
  pause,
  applySchema,
  pause,
  trackFields,
  pause,
  enterNamespace,
  complete,
  (state) =>
    state.configured &&
    mutateByConfigured(configuredPhases(state, state.configured), (object) => completeAgain(state, object)),
  extractPart,
  prepare,
  shareWithSibling,
  pause,
  collectMetadataErrors,
  collectSchemaErrors,
  pause,
  nameInvalidObject,
  ...VERDICT_PHASES,
  (state) => state.configured && validateByConfigured(configuredPhases(state, state.configured)),
];

/**
 * Returns the object to store, in the version of the request. Throws 400 for strict validation and 422 with all field
 * errors.
 */
export function admitObject(deps: AdmitDependencies, request: AdmitRequest): JsonObject | Promise<JsonObject> {
  const { kind } = request.context.served.resource;
  const state: AdmissionState = {
    deps,
    request,
    ...createStepState(kind, deps.chain.of(kind, request.operation), createReview(deps, request)),
    configured: deps.configured.find(request.context, request.operation),
    warnFirst() {
      if (!kind.builtIn) warnAboutCustomObject(request.context, state.review.object, request.oldObject);
    },
  };
  const pending = inOrder(state, PHASES, runPhase);
  return pending ? pending.then(() => state.review.object) : state.review.object;
}

const runPhase = (state: AdmissionState, phase: Phase): void | Promise<void> => phase(state);

function makeCanonical({ deps, request: { context, oldObject }, review }: AdmissionState): void {
  review.object = canonicalForm(deps, context, review.object, context.warn, oldObject);
}

const createStepState = (
  kind: Kind,
  steps: ChainSteps,
  review: ServerReview,
): Pick<AdmissionState, "kind" | "steps" | "review" | "errors" | "replace"> => ({
  kind,
  steps,
  review,
  errors: [],
  replace(next) {
    // A step may return parts of shared objects, and the following code modifies the top level and metadata in place.
    const { metadata } = next as JsonObject;
    review.object = ordered({ ...(next as JsonObject), metadata: { ...(metadata as JsonObject) } });
  },
});

/** Prunes and defaults by the schema of the kind. */
function applySchema({ request, review }: AdmissionState): void {
  const { context, options, settled, findings } = request;
  const { served } = context;
  const unknown: string[] = [];
  const object = served.resource.kind.builtIn ? review.object : withReadableMetadata(review.object, unknown, settled);
  review.object = served.compiled.admit(
    object,
    options.fieldValidation === "Ignore"
      ? { strictMetadata: true, settled }
      : { unknownFields: unknown, strictMetadata: true, settled },
  );
  reportFields(unknown, findings, context, options);
}

const configuredPhases = ({ deps, request, review }: AdmissionState, found: Configured): ConfiguredPhases => ({
  admission: deps.configured,
  found,
  request,
  review,
});

/**
 * Completes an object that policies or webhooks changed: its declared form, the defaults of its kind, its schema, and the built-in
 * steps. Fields that they set have no manager, and the managers stay as they were recorded.
 */
async function completeAgain(state: AdmissionState, changed: JsonObject): Promise<JsonObject> {
  const { request, review } = state;
  const { managedFields } = metadataOf(review.object);
  const { kind } = request.context.served.resource;
  const written = writtenParts(request, changed);
  review.object = ordered({ ...written, metadata: { ...metadataOf(written) } });
  makeCanonical(state);
  await mutateAgain(state);
  review.object = request.context.served.compiled.admit(
    kind.builtIn ? review.object : withReadableMetadata(review.object, [], undefined),
  );
  review.object = withManagers(kind.builtIn ? withoutEmptyLists(review.object) : review.object, managedFields);
  await complete(state);
  return review.object;
}

/** Policies and webhooks may change what the request itself may write: the object without its status, or the status alone. */
function writtenParts({ context, oldObject }: AdmitRequest, changed: JsonObject): JsonObject {
  return oldObject
    ? combine(context, oldObject, changed, metadataOf(changed))
    : withoutInitialStatus(context.served, changed);
}

/** The object with exactly these managers. */
function withManagers(object: JsonObject, managedFields: Json | undefined): JsonObject {
  const { managedFields: _, ...metadata } = metadataOf(object);
  return { ...object, metadata: { ...metadata, ...defined({ managedFields }) } };
}

function trackFields({ request, review }: AdmissionState): void | Promise<void> {
  return after(request.track(review.object), (tracked) => {
    review.object = request.context.served.resource.kind.builtIn ? withoutEmptyLists(tracked) : tracked;
  });
}

function enterNamespace({ deps, request: { context, operation, guards }, review }: AdmissionState): void {
  const { cluster, namespace, served } = context;
  if (operation !== "CREATE" || !served.resource.namespaced || namespace === undefined) return;
  const name = textOf(metadataOf(review.object).name ?? "");
  const guard = checkNamespace(deps.store, cluster, served.resource, namespace, name);
  if (guard) guards.push(guard);
}

/** A subresource that writes a part of the object takes that part alone. */
function extractPart({ request: { context, oldObject }, review }: AdmissionState): void {
  const part = partOf(context.served, context.subresource);
  if (part && oldObject) review.object = withPart(part, review.object, oldObject);
}

function shareWithSibling({ deps, request: { context, operation }, review }: AdmissionState): void {
  if (operation !== "CREATE") return;
  const sibling = deps.siblings.of(context, review.object);
  if (!sibling) return;
  review.sibling = sibling;
  review.object = sharedWith(sibling, review.object);
}

function collectMetadataErrors(state: AdmissionState): void {
  const { request, review } = state;
  const { resource } = request.context.served;
  const known = request.settled ?? review.sibling;
  const found = validateMetadata(metadataOf(review.object), resource, known && metadataOf(known));
  const errors =
    request.operation === "UPDATE"
      ? repeatMetadataErrors(found, request.errors, resource, request.context.subresource)
      : [...request.errors, ...found];
  for (const error of errors) state.errors.push(error);
}

/** The rules of built-in kinds are code: they report required and unknown fields in their own order and words. */
function collectSchemaErrors({ request: { context, oldObject, settled }, review, errors }: AdmissionState): void {
  // Added one by one: an object can have more errors than a call can take arguments.
  if (!context.served.resource.kind.builtIn)
    for (const error of customErrors(context, review.object, oldObject, settled, errors)) errors.push(error);
}

/** For an object without a name, a kind's validation does not depend on how the name is missing. */
function nameInvalidObject({ review, errors }: AdmissionState): void {
  if (errors.length > 0 && metadataOf(review.object).name === undefined)
    review.object = { ...review.object, metadata: { ...metadataOf(review.object), name: "" } };
}

/** Runs the steps for a deletion: all that can reject it. */
export function admitDeletion(deps: Omit<AdmitDependencies, "siblings">, request: ReviewRequest): void | Promise<void> {
  const { kind } = request.context.served.resource;
  const review = createReview(deps, request);
  const found = deps.configured.find(request.context, "DELETE");
  const configured = found && { admission: deps.configured, found, request, review };
  const state = { ...createStepState(kind, deps.chain.of(kind, "DELETE"), review), configured };
  return inOrder(state, DELETION_PHASES, runDeletionPhase);
}

type DeletionState = StepState & { readonly configured: ConfiguredPhases | undefined };
type DeletionPhase = (state: DeletionState) => void | Promise<void>;

const runDeletionPhase = (state: DeletionState, phase: DeletionPhase): void | Promise<void> => phase(state);

const DELETION_PHASES: readonly DeletionPhase[] = [
  ...VERDICT_PHASES,
  ({ configured }) => configured && admitConfiguredDeletion(configured),
];

/** The sent object in the canonical form of its kind, for kinds that also have another form; most do not. */
export function canonicalForm(
  { chain }: Pick<AdmitDependencies, "chain">,
  { served: { resource } }: RequestContext,
  sent: JsonObject,
  warn: (message: string) => void,
  stored?: JsonObject,
): JsonObject {
  let object = sent;
  for (const { canonical } of chain.canonical(resource.kind)) {
    const next = canonical?.(object, { warn, stored });
    // The following code modifies the top level and metadata in place.
    if (next !== undefined && next !== object)
      object = ordered({ ...(next as JsonObject), metadata: { ...metadataOf(next as JsonObject) } });
  }
  return object;
}

/**
 * The stored object, with the sent part and the managed fields of the sent object. Writes of a status may change
 * metadata, as elsewhere.
 */
function withPart(part: SpecPart, sent: JsonObject, stored: JsonObject): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = metadataOf(stored);
  const { managedFields } = metadataOf(sent);
  const field = part.of ?? "spec";
  const whole = (object: JsonObject): JsonObject => (isObject(object[field]) ? object[field] : {});
  const kept = field === "status" ? metadataOf(sent) : { ...metadata, ...defined({ managedFields }) };
  return { ...stored, metadata: kept, [field]: part.take(whole(sent), whole(stored)) as JsonObject };
}

/**
 * Kubernetes stores built-in kinds in a form that does not distinguish an empty list from an absent one, but the writer
 * of an empty list still owns the field. Optional empty fields have already been dropped, and required ones are at most
 * as deep as the spec.
 */
function withoutEmptyLists(object: JsonObject): JsonObject {
  const result = dropEmptyLists(object);
  const { spec } = result;
  if (!isObject(spec)) return result;
  const kept = dropEmptyLists(spec);
  return kept === spec ? result : { ...result, spec: kept };
}

function dropEmptyLists(part: JsonObject): JsonObject {
  let result = part;
  for (const key in part) {
    const value = part[key];
    if (!Array.isArray(value) || value.length > 0) continue;
    if (result === part) result = { ...part };
    Reflect.deleteProperty(result, key);
  }
  return result;
}

/** The metadata of built-in kinds is part of their canonical form; that of custom objects is decoded here. */
function withReadableMetadata(object: JsonObject, unknown: string[], settled: JsonObject | undefined): JsonObject {
  const metadata = metadataOf(object);
  const known = settled && metadataOf(settled);
  const problem = metadataProblem(metadata, known);
  if (problem !== undefined) throw new DecodeError(problem);
  const readable = coerceMetadata(metadata, "metadata", unknown, false, known);
  return readable === metadata ? object : { ...object, metadata: readable };
}
