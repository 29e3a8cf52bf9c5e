/**
 * Asks the admission webhooks of a cluster about a request: mutating ones in order, where each sees what those before it
 * changed, validating ones at the same time. Selectors decide which of the matching webhooks are called; a webhook that
 * cannot be called rejects the request, or is passed over, as its failure policy says (docs/adr/0035).
 */
import { ApiError, applyJsonPatch, badRequest, forbidden, internalError } from "@flotilla/apimachinery";
import { equalJson, isObject, messageOf } from "@flotilla/base";
import type { Clock, Json, JsonObject, Log, MetricsText, Random } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";
import type { ResolveService } from "@flotilla/client";
import type { Conversions } from "../conversion/conversions.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { AuditRecord } from "../request/audit-record.ts";
import type { RequestContext } from "../request/context.ts";
import type { Cache } from "../store/cache.ts";
import { admissionInput } from "../admission-match/admission-input.ts";
import { requestFields } from "../admission-match/request-fields.ts";
import type { AdmissionQuestion } from "../admission-match/request-fields.ts";
import type { AdmissionHook, ProbeSample } from "./admission-hook.ts";
import { denial, UndecodablePatchError } from "./admission-review.ts";
import type { Verdict } from "./admission-review.ts";
import { converted, inVersion } from "../admission-match/equivalents.ts";
import { selectsNamespace, selectsObject } from "../admission-match/selection.ts";
import { createWebhookRegistrations } from "./registrations.ts";
import type { Candidate, Candidates } from "./registrations.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import { serviceAddress } from "../clusters/service-address.ts";
import type { FailedCall } from "./webhook-breaker.ts";
import { WebhookMetrics } from "./webhook-metrics.ts";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import type { AdmissionOperation } from "../admission-match/match-rules.ts";

export interface AdmissionWebhooks {
  /** The webhooks whose rules match the request; undefined when there are none. Cheap and synchronous. */
  find(context: RequestContext, operation: AdmissionOperation): Candidates | undefined;
  /**
   * The object as the webhooks changed it; undefined when they changed nothing. `settle` completes a changed object as
   * the server completes a sent one, before webhooks with `reinvocationPolicy: IfNeeded` see it again.
   */
  mutate(
    candidates: Candidates,
    request: AdmissionRequest,
    settle: (object: JsonObject) => JsonObject | Promise<JsonObject>,
  ): Promise<JsonObject | undefined>;
  /** Throws when a webhook denies the request. */
  validate(candidates: Candidates, request: AdmissionRequest): Promise<void>;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

export interface AdmissionWebhookDependencies {
  cache: Cache;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  random: Random;
  log: Log;
  conversions: Conversions;
  blockedAddresses?: BlockedAddresses | undefined;
  /** See `ApiServerOptions`. */
  addressAnnotation?: string | undefined;
}

export function createAdmissionWebhooks(deps: AdmissionWebhookDependencies): AdmissionWebhooks {
  const { store, clock, log, conversions } = deps;
  const registrations = createWebhookRegistrations(deps);
  const metrics = new Map<string, WebhookMetrics>();
  const metricsOf = (cluster: string): WebhookMetrics => {
    const known = metrics.get(cluster);
    if (known) return known;
    const created = new WebhookMetrics();
    // A request may end after its cluster was removed; nothing would forget these.
    if (deps.clusters.get(cluster)) metrics.set(cluster, created);
    return created;
  };

  const since = (startedMs: number): number => (clock.now() - startedMs) / 1000;

  /** Undefined when the webhook could not be called and its failures are ignored. Throws when it denies the request. */
  async function ask(candidate: Candidate, request: AdmissionRequest, at: Call): Promise<Verdict | undefined> {
    const { hook, served } = candidate;
    const { context, operation } = request;
    if (request.dryRun && !supportsDryRun(hook))
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
    const measured = metricsOf(context.cluster.name);
    const failOpen = (): undefined => {
      measured.failedOpen(hook);
      context.audit?.annotate(`failed-open.${hook.type}.webhook.admission.k8s.io/${placeOf(at)}`, hook.name);
    };
    const read = createClusterReader(store, context.cluster);
    const resolveService: ResolveService = (service) => serviceAddress(read, service, deps.addressAnnotation);
    if (hook.breaker.isOpen) {
      if (hook.breaker.wantsSample && served === context.served)
        hook.breaker.keep(sampleOf({ request, served, ...inVersion(served, request) }, resolveService));
      return failOpen();
    }
    const startedMs = clock.now();
    let question: AdmissionQuestion | undefined;
    let verdict: Verdict;
    try {
      question = { request, served, ...(await conversions.settle(context, () => inVersion(served, request))) };
      const asked = hook.ask(question, resolveService, context.signal);
      const resume = (): Promise<void> | undefined => context.resume?.();
      await asked.then(resume, resume);
      verdict = await asked;
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      const code = error.httpStatus ?? 503;
      measured.answered(hook, operation, { seconds: since(startedMs), code, rejected: !hook.ignoresFailures });
      const mayProbe = hook.ignoresFailures && supportsDryRun(hook);
      const sample = question && mayProbe ? sampleOf(question, resolveService) : undefined;
      failed(hook, error, { context, call: { startedMs, isTimeout: error.reason === "timeout", sample } });
      if (hook.ignoresFailures) return failOpen();
      measured.rejected(hook, operation, "calling_webhook_error", code);
      const what =
        error instanceof UndecodablePatchError
          ? "received undecodable patch in webhook response"
          : error.reason === "answer"
            ? "received invalid webhook response"
            : "failed to call webhook";
      throw internalError(`failed calling webhook ${JSON.stringify(hook.name)}: ${what}: ${error.message}`);
    }
    hook.breaker.answered();
    for (const text of verdict.warnings) context.warn(text);
    if (context.audit)
      for (const [key, text] of Object.entries(verdict.auditAnnotations))
        context.audit.annotate(`${hook.name}/${key}`, text);
    const denied = verdict.isAllowed ? undefined : denial(hook.name, verdict.status);
    const code = denied?.status.code ?? 200;
    measured.answered(hook, operation, { seconds: since(startedMs), code, rejected: denied !== undefined });
    if (!denied) return verdict;
    measured.rejected(hook, operation, "no_error", code);
    throw denied;
  }

  /** Logged when a webhook begins to fail, not for each request. */
  function failed(
    hook: AdmissionHook,
    error: WebhookError,
    { context, call }: { context: RequestContext; call: FailedCall<ProbeSample> },
  ): void {
    hook.breaker.failed(call);
    if (hook.breaker.failures > 1) return;
    log.warn("an admission webhook cannot be called", {
      cluster: context.cluster.name,
      webhook: `${hook.configuration}/${hook.name}`,
      policy: hook.ignoresFailures ? "Ignore" : "Fail",
      error: error.message,
    });
  }

  const isSelected = (candidate: Candidate, request: AdmissionRequest): boolean | Promise<boolean> =>
    selectsNamespace(store, candidate.hook.namespaceSelector, request) &&
    selectsObject(candidate.hook.objectSelector, request) &&
    (!candidate.hook.conditions ||
      request.decisions.settle(() => conversions.settle(request.context, () => meetsConditions(candidate, request))));

  function meetsConditions(candidate: Candidate, request: AdmissionRequest): boolean {
    const { hook, served } = candidate;
    if (!hook.conditions) return true;
    const question = { request, served, ...inVersion(served, request) };
    const { matches, error } = hook.conditions.match(admissionInput(question));
    if (error === undefined) return matches;
    if (hook.ignoresFailures) return false;
    throw forbidden(request.context.served.resource.name, request.name ?? "", error);
  }

  /** Asks one mutating webhook. Undefined when it changed nothing. */
  async function change(candidate: Candidate, request: AdmissionRequest, at: Call): Promise<JsonObject | undefined> {
    const verdict = await ask(candidate, request, at);
    const changed = verdict?.patch === undefined ? undefined : await patchedBy(candidate, request, verdict.patch);
    if (verdict && request.context.audit)
      noteMutation(request.context.audit, candidate, verdict, at, changed !== undefined);
    return changed;
  }

  async function patchedBy(
    candidate: Candidate,
    request: AdmissionRequest,
    patch: Json,
  ): Promise<JsonObject | undefined> {
    try {
      return await patchedIn(candidate, request, patch);
    } catch (error) {
      metricsOf(request.context.cluster.name).rejected(
        candidate.hook,
        request.operation,
        "apiserver_internal_error",
        0,
      );
      throw error;
    }
  }

  async function patchedIn(
    { hook, served }: Candidate,
    { kind, context, object }: AdmissionRequest,
    patch: Json,
  ): Promise<JsonObject | undefined> {
    if (!object)
      throw internalError(
        `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    const from = kind ? served : context.served;
    const sent = await conversions.settle(context, () => converted(context, object, from, served));
    const patched = applyPatch(hook, sent, patch);
    if (equalJson(patched, sent)) return undefined;
    return conversions.settle(context, () => converted(context, patched, served, from));
  }

  return {
    find: ({ cluster, served, subresource }, operation) =>
      registrations.candidates(cluster, { served, subresource, operation }),
    mutate: ({ mutating }, request, settle) => mutateInOrder(mutating, request, { isSelected, change, settle }),
    async validate({ validating }, request) {
      const selected: Candidate[] = [];
      for (const candidate of validating) if (await isSelected(candidate, request)) selected.push(candidate);
      const outcomes = await Promise.allSettled(
        selected.map((candidate, index) => ask(candidate, request, { round: 0, index })),
      );
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
    writeMetrics: (cluster, text) =>
      (metrics.get(cluster) ?? new WebhookMetrics()).write(text, registrations.hooks(cluster)),
    forget: (cluster) => void metrics.delete(cluster),
    close: () => registrations.close(),
  };
}

interface MutationSteps {
  isSelected(candidate: Candidate, request: AdmissionRequest): boolean | Promise<boolean>;
  change(candidate: Candidate, request: AdmissionRequest, at: Call): Promise<JsonObject | undefined>;
  settle(object: JsonObject): JsonObject | Promise<JsonObject>;
}

/** Each webhook sees what those before it changed; those that ask for it see in a second round what those after them changed. */
async function mutateInOrder(
  mutating: readonly Candidate[],
  request: AdmissionRequest,
  { isSelected, change, settle }: MutationSteps,
): Promise<JsonObject | undefined> {
  let current = request;
  let isChanged = false;
  const invoked = new Set<Candidate>();
  let again = new Set<Candidate>();
  for (const [index, candidate] of mutating.entries()) {
    if (!(await isSelected(candidate, current))) continue;
    const object = await change(candidate, current, { round: 0, index });
    if (object) {
      isChanged = true;
      again = new Set(invoked);
      current = { ...current, object };
    }
    if (isReinvocable(candidate.hook)) invoked.add(candidate);
  }
  if (!isChanged || !current.object) return undefined;
  const settled = await settle(current.object);
  // What the server completed may concern every webhook that asked for another call.
  if (!equalJson(settled, current.object)) again = invoked;
  current = { ...current, object: settled };
  for (const candidate of again) {
    if (!(await isSelected(candidate, current))) continue;
    const object = await change(candidate, current, { round: 1, index: mutating.indexOf(candidate) });
    if (object) current = { ...current, object: await settle(object) };
  }
  return current.object;
}

/** The request in a dry run, in which webhooks have no side effects. */
function sampleOf(question: AdmissionQuestion, resolveService: ResolveService): ProbeSample {
  const { request } = question;
  const options = request.options && { ...request.options, dryRun: ["All"] };
  return { fields: requestFields({ ...question, request: { ...request, dryRun: true, options } }), resolveService };
}

/** Which call of a request it is: the round of invocations, and the place of the webhook in it. */
interface Call {
  readonly round: number;
  readonly index: number;
}
const placeOf = ({ round, index }: Call): string => `round_${round}_index_${index}`;

/** The annotations of Kubernetes: which webhook changed the object, and from the level Request on how. */
function noteMutation(
  audit: AuditRecord,
  { hook: { configuration, name } }: Candidate,
  { patch }: Verdict,
  at: Call,
  mutated: boolean,
): void {
  const webhook = { configuration, webhook: name };
  audit.annotate(`mutation.webhook.admission.k8s.io/${placeOf(at)}`, JSON.stringify({ ...webhook, mutated }));
  if (patch !== undefined) audit.patched(`patch.webhook.admission.k8s.io/${placeOf(at)}`, webhook, patch);
}

const supportsDryRun = ({ settings: { sideEffects } }: AdmissionHook): boolean =>
  sideEffects === "None" || sideEffects === "NoneOnDryRun";

const isReinvocable = ({ settings }: AdmissionHook): boolean =>
  "reinvocationPolicy" in settings && settings.reinvocationPolicy === "IfNeeded";

function applyPatch({ name }: AdmissionHook, object: JsonObject, patch: Verdict["patch"]): JsonObject {
  try {
    const patched = applyJsonPatch(object, patch ?? []);
    if (isObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw internalError(
      `the patch of admission webhook ${JSON.stringify(name)} cannot be applied: ${messageOf(error)}`,
    );
  }
  throw internalError(`the patch of admission webhook ${JSON.stringify(name)} leaves no object`);
}
