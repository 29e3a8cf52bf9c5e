/** The review of a request: what admission steps see of it. */
import type { Operation, Review } from "@flotilla/apimachinery";
import { randomUuid } from "@flotilla/base";
import type { Clock, JsonObject, Random } from "@flotilla/base";
import type { AdmissionChain } from "../admission/chain.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { RequestContext } from "../request/context.ts";
import type { Authorizer } from "../request/authorize.ts";
import { Decisions } from "../request/decisions.ts";
import type { WriteOptions } from "../request/options.ts";

export interface ReviewDependencies {
  chain: AdmissionChain;
  store: ObjectStore;
  random: Random;
  clock: Clock;
  authorizer: Authorizer;
}

export interface ReviewRequest {
  context: RequestContext;
  options: Pick<WriteOptions, "dryRun" | "isPatch">;
  operation: Operation;
  /** Passed by the caller, which no longer owns it. */
  object: JsonObject;
  /** The stored object, in the same version. */
  oldObject?: JsonObject;
  /**
   * The old object, when it is known to have passed all of this: the parts that the object shares with it are not
   * checked again.
   */
  settled?: JsonObject | undefined;
  /** The name of the new object was made of its `generateName`. */
  hasGeneratedName?: boolean;
  /** The options as the client sent them, where they are not in the query. */
  sentOptions?: JsonObject | undefined;
}

/** One per request. Steps run one after the other, and each sees the object as the steps before have left it. */
export interface ServerReview extends Review<JsonObject> {
  object: JsonObject;
  sibling?: JsonObject;
  readonly decisions: Decisions;
}

export function createReview(
  { random, clock, authorizer, store }: ReviewDependencies,
  { context, options, operation, object, oldObject, settled }: ReviewRequest,
): ServerReview {
  const { cluster, served, user } = context;
  const decisions = new Decisions(authorizer);
  const decide: ServerReview["decide"] = ({ verb, ...resource }) =>
    decisions.decide({ user, cluster: cluster.name, verb, resource });
  return {
    operation,
    cluster: cluster.name,
    kind: served.resource.kind,
    version: served.version,
    namespace: context.namespace,
    name: context.name,
    subresource: context.subresource,
    user,
    byController: context.byController ? true : undefined,
    object,
    oldObject,
    settled,
    sibling: undefined,
    dryRun: options.dryRun,
    isPatch: options.isPatch,
    newUid: () => randomUuid(random),
    nowMs: () => clock.now(),
    decisions,
    decide,
    allows: (question) => decide(question).allowed,
    warn: context.warn,
    annotate: context.audit && ((key, value) => context.audit?.annotate(key, value)),
    read: createClusterReader(store, cluster),
  };
}

/** The review of a deletion. */
export function deletionOf(
  context: RequestContext,
  object: JsonObject,
  { dryRun, sent }: { dryRun: boolean; sent?: JsonObject },
): ReviewRequest {
  return {
    context,
    options: { dryRun },
    operation: "DELETE",
    object,
    oldObject: object,
    sentOptions: sent,
  };
}
