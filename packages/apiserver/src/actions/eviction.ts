/**
 * Eviction: deletes a running pod only when its PodDisruptionBudget allows a disruption, and charges the budget before
 * deleting the pod. Pods that are not running yet, or have finished, are deleted without a check.
 */
import { Eviction, PodDisruptionBudget } from "@flotilla/kubernetes";
import type { Pod } from "@flotilla/kubernetes";
import { formatTime, defined, omitEmpty } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import {
  ApiError,
  CONFLICT_MESSAGE,
  badRequest,
  conflict,
  field,
  forbidden,
  invalid,
  isConflict,
  labelSelectorOf,
  matchesLabels,
  notFound,
} from "@flotilla/apimachinery";
import type { Action, ActionDependencies, Input } from "./action.ts";
import { MAX_ATTEMPTS } from "../clusters/attempts.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import { createClusterWriter } from "../clusters/cluster-writer.ts";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import { admitDeletion } from "../write/admit.ts";
import { deleteObject } from "../write/delete.ts";
import { deletionOptions } from "../write/delete-options.ts";
import type { DeletionOptions } from "../write/delete-options.ts";
import { metadataOf } from "../codec/metadata.ts";
import { reserve } from "../write/reserve.ts";
import { deletionOf } from "../write/review.ts";
import { writeOptions } from "../request/options.ts";
import { objectIn, ordered, settledIn, viewOfWritten } from "../codec/render.ts";
import { createResource, keyOf } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";
import { SUCCESS, withCondition } from "./pod-conditions.ts";
import { admitSent, readSent } from "./sent-object.ts";

type ReadPod = DeepReadonly<Pod>;
type Budget = DeepReadonly<PodDisruptionBudget>;

const EVICTION = createResource(Eviction).storage;
const PODS = { group: "", resource: "pods" };
const BUDGETS = { group: "policy", resource: "poddisruptionbudgets" };
/** When more evictions than this are unconfirmed, the disruption controller is not keeping up. */
const MAX_DISRUPTED_PODS = 2000;

export const podEviction: Action = {
  group: "",
  resource: "pods",
  subresource: "eviction",
  async run(deps, context, input) {
    const { name = "" } = context;
    const received = await readSent({ ...context, served: EVICTION }, inCurrentVersion(input), {
      clock: deps.clock,
      facts: "policy-v1",
    });
    if ((metadataOf(received).name ?? "") !== name)
      throw badRequest("name in URL does not match name in Eviction object");
    const eviction = await admitSent(deps, context, received);
    const sent = (eviction.deleteOptions ?? {}) as JsonObject;
    if (sent.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
      throw invalid("policy", "Eviction", name, [
        field.invalid(
          "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential",
          true,
          "can not be set for pod eviction, try after removing the option",
        ),
      ]);
    }
    const asked = deletionOptions(context, sent);
    const options: DeletionOptions = {
      ...asked,
      dryRun: asked.dryRun || writeOptions(context, "CreateOptions").dryRun,
    };
    for (let attempt = 1; ; attempt++) {
      const changed = await evict(deps, context, options);
      if (!changed) return { type: "object", object: SUCCESS, code: 201 };
      if (attempt === MAX_ATTEMPTS) throw changed;
    }
  },
};

/**
 * Returns the conflict when the pod changed after the decision to evict it: a pod that starts in the meantime may have
 * a budget.
 */
async function evict(
  deps: ActionDependencies,
  context: RequestContext,
  options: DeletionOptions,
): Promise<Error | undefined> {
  const pod = podOf(deps, context);
  // Admission rules for deletions see this deletion as an eviction, and run before a disruption budget is charged.
  const review = deletionOf(context, pod as unknown as JsonObject, options);
  await admitDeletion(deps, review);
  const reservation = options.dryRun ? undefined : await reserve(deps, review);
  if (reservation === "stale") return conflict(PODS, context.name ?? "", CONFLICT_MESSAGE);
  let version: string | undefined;
  try {
    version = mayIgnoreBudgets(pod)
      ? isEnding(pod)
        ? undefined
        : pod.metadata.resourceVersion
      : await charge(deps, context, pod, options);
    await remove(deps, context, { ...options, isAdmitted: true }, version);
    return undefined;
  } catch (error) {
    await reservation?.release();
    // A client that specified a resourceVersion receives the conflict.
    if (
      error instanceof Error &&
      isConflict(error) &&
      version !== undefined &&
      options.preconditions.resourceVersion === undefined
    )
      return error;
    throw error;
  }
}

/** The v1beta1 Eviction has the same fields. */
function inCurrentVersion(input: Input): Input {
  return {
    ...input,
    object() {
      const body = input.object();
      return body.object.apiVersion === "policy/v1beta1"
        ? { ...body, object: { ...body.object, apiVersion: "policy/v1" } }
        : body;
    },
  };
}

function podOf({ store }: ActionDependencies, { cluster, served, namespace, name = "" }: RequestContext): ReadPod {
  const { entry } = store.find(cluster, served.resource, keyOf(served.resource, cluster.name, namespace, name));
  if (!entry) throw notFound(PODS, name);
  return objectIn(entry, served) as unknown as ReadPod;
}

const isEnding = ({ status, metadata }: ReadPod): boolean =>
  status?.phase === "Succeeded" || status?.phase === "Failed" || metadata.deletionTimestamp !== undefined;
const mayIgnoreBudgets = (pod: ReadPod): boolean => isEnding(pod) || pod.status?.phase === "Pending";
const isReady = ({ status }: ReadPod): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === "Ready" && value === "True");

/**
 * Takes the disruption from the pod's budget. Returns the resourceVersion at which the pod must be deleted, when the
 * decision depended on its health.
 */
async function charge(
  deps: ActionDependencies,
  context: RequestContext,
  pod: ReadPod,
  { dryRun }: DeletionOptions,
): Promise<string | undefined> {
  const { cluster, namespace = "" } = context;
  const budgets = createClusterReader(deps.store, cluster)
    .list(PodDisruptionBudget, namespace)
    .filter((budget) => covers(budget, pod));
  if (budgets.length > 1)
    throw plainError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  const budget = budgets[0];
  if (!budget) return undefined;
  if (!isReady(pod) && mayEvictUnready(budget)) return pod.metadata.resourceVersion;
  if (dryRun) checkBudget(budget);
  else {
    await createClusterWriter(deps.store, deps.cache, cluster).changeStatus(
      PodDisruptionBudget,
      namespace,
      budget.metadata.name,
      (stored) => charged(stored, pod.metadata.name, deps.clock.now()),
    );
  }
  return undefined;
}

function covers({ spec }: Budget, { metadata }: ReadPod): boolean {
  return matchesLabels(labelSelectorOf(spec?.selector), metadata.labels);
}

/** A pod that is not ready may be evicted when enough other pods are healthy, or when the budget's policy allows it. */
function mayEvictUnready({ spec, status }: Budget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function charged(budget: Budget, pod: string, nowMs: number): JsonObject {
  const allowed = checkBudget(budget) - 1;
  const { disruptedPods, ...status } = budget.status ?? {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    disruptionsAllowed: 0,
  };
  const conditions = (status.conditions ?? []).map((condition) =>
    allowed === 0 && condition.type === "DisruptionAllowed" && condition.status === "True"
      ? {
          ...condition,
          status: "False",
          reason: "InsufficientPods",
          lastTransitionTime: formatTime(nowMs),
          observedGeneration: status.observedGeneration ?? 0,
        }
      : condition,
  );
  return {
    ...status,
    disruptionsAllowed: allowed,
    disruptedPods: { ...disruptedPods, [pod]: formatTime(nowMs) },
    ...omitEmpty({ conditions }),
  } as unknown as JsonObject;
}

/** How many disruptions the budget allows; throws when there are none, or when the budget's status is outdated. */
function checkBudget({ metadata, status }: Budget): number {
  const { name, generation = 0 } = metadata;
  const {
    observedGeneration = 0,
    disruptionsAllowed = 0,
    disruptedPods = {},
    currentHealthy = 0,
    desiredHealthy = 0,
    conditions = [],
  } = status ?? {};
  if (observedGeneration < generation)
    throw refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (disruptionsAllowed < 0)
    throw forbidden({ ...BUDGETS, resource: "poddisruptionbudget" }, name, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS)
    throw forbidden(
      { ...BUDGETS, resource: "poddisruptionbudget" },
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  if (disruptionsAllowed > 0) return disruptionsAllowed;
  const condition = conditions.find(
    ({ type, status: value, message }) => type === "DisruptionAllowed" && value === "False" && message,
  );
  if (condition?.reason === "SyncFailed")
    throw refused(
      `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`,
    );
  if (currentHealthy <= desiredHealthy)
    throw refused(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  throw refused(
    `The disruption budget ${name} does not allow evicting pods currently${condition ? ` (${condition.reason}): ${condition.message}` : ""}`,
  );
}

/** 429, with Retry-After when the delay is known. */
function refused(why: string, retryAfterSeconds?: number): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    reason: "TooManyRequests",
    details: { causes: [{ reason: "DisruptionBudget", message: why }], retryAfterSeconds },
    code: 429,
  });
}

/** Marks the pod as evicted and deletes it. `version` is the resourceVersion that the decision was based on. */
async function remove(
  deps: ActionDependencies,
  context: RequestContext,
  options: DeletionOptions,
  version: string | undefined,
): Promise<void> {
  const { subresource: _, ...pod } = context;
  const { preconditions } = options;
  const wanted = preconditions.resourceVersion ?? version;
  let current = wanted;
  if (!options.dryRun) current = await mark(deps, pod, { ...preconditions, ...defined({ resourceVersion: wanted }) });
  await deleteObject(deps, pod, {
    ...options,
    preconditions: {
      ...preconditions,
      ...defined({ resourceVersion: wanted !== undefined && current !== undefined ? current : undefined }),
    },
  });
}

/** Returns the pod's new resourceVersion. */
async function mark(
  deps: ActionDependencies,
  { cluster, served, namespace, name = "" }: RequestContext,
  { uid, resourceVersion }: DeletionOptions["preconditions"],
): Promise<string> {
  const { cache, store, clock } = deps;
  const key = keyOf(served.resource, cluster.name, namespace, name);
  const { storage } = served.resource;
  return cache.exclusive(key, async () => {
    const found = store.find(cluster, served.resource, key);
    if (!found.entry) throw notFound(PODS, name);
    const stored = objectIn(found.entry, storage);
    const { resourceVersion: current, ...metadata } = metadataOf(stored);
    const refuse = (what: string, wanted: string, why: string): never => {
      throw conflict(
        { group: "", resource: "Pod" },
        name,
        `the ${what} in the precondition (${wanted}) does not match the ${what} in record ` +
          `(${textOf(what === "UID" ? metadata.uid : current)}). The object might have been ${why}`,
      );
    };
    if (uid !== undefined && uid !== metadata.uid) refuse("UID", uid, "deleted and then recreated");
    if (resourceVersion !== undefined && resourceVersion !== current)
      refuse("ResourceVersion", resourceVersion, "modified");
    const marked = withCondition(
      stored as unknown as ReadPod,
      { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
      clock.now(),
    ) as unknown as JsonObject;
    const entry = await store.put(
      cluster,
      found,
      viewOfWritten(storage, ordered({ ...marked, metadata }), settledIn(found.entry, storage) !== undefined),
      { verb: "update", name: PODS, subresource: "status" },
    );
    if (!entry)
      throw conflict(
        PODS,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    return String(entry.revision);
  });
}
