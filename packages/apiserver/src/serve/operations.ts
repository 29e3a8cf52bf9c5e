/**
 * One verb on one resource: from a checked request to a result that is not yet serialized. Both transports use this.
 */
import type { ConnectHandler } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import {
  ApiError,
  badRequest,
  methodNotAllowed,
  notFound,
  pathNotFound,
  verbNotSupported,
} from "@flotilla/apimachinery";
import type { ActionDependencies, Actions, Answer, Input } from "../actions/action.ts";
import type { Aggregation } from "../aggregation/aggregation.ts";
import type { AuditRecord } from "../request/audit-record.ts";
import type { BackPressure } from "../watch/back-pressure.ts";
import { confirmSubject } from "../access/subject.ts";
import { PageNotFound } from "../request/page-not-found.ts";
import type { AccessRequest, IsController } from "../request/authorize.ts";
import { confirm } from "../request/decisions.ts";
import { after, isPromise } from "../admission/run-steps.ts";
import { METHODS } from "@flotilla/client";
import { clientKeyOf } from "../access/client-key.ts";
import { longest, withinTime } from "../request/deadline.ts";
import { timeoutMsOf } from "../request/options.ts";
import { clusterNotFound } from "../clusters/cluster-not-found.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { FENCE, fenceStore } from "../clusters/fenced-store.ts";
import { explainUnreadable, reportUnknownFields } from "../write/custom-body.ts";
import { connectShape } from "../resources/connect-shapes.ts";
import type { RequestContext } from "../request/context.ts";
import { answersWithObject, deleteCollection, deleteObject, deletedStatus } from "../write/delete.ts";
import { deletionOptions } from "../write/delete-options.ts";
import { isNamespaceKind, partOf } from "../resources/resources.ts";
import { patchObject } from "../write/patch.ts";
import { getObject, listObjects } from "../read/read.ts";
import { objectIn } from "../codec/render.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { ResourceRoute } from "../request/router.ts";
import { scaleOf, updateScale } from "../actions/scale.ts";
import type { ScaleBody } from "../actions/scale.ts";
import type { WatchDependencies } from "../watch/watch.ts";
import { createObject } from "../write/create.ts";
import { updateObject } from "../write/update.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | "connect";
type OperationVerb = Exclude<Verb, "watch" | "connect">;

export type OperationDependencies = ActionDependencies &
  WatchDependencies & {
    isController: IsController;
    actions: Actions;
    pressure: BackPressure;
    aggregation: Aggregation;
  };

/** What the path names in a cluster. Controllers of this server may also name a version that is only stored. Throws 404 and 405. */
export function findResource(
  cluster: LogicalCluster,
  route: Pick<ResourceRoute, "group" | "version" | "resource" | "namespace" | "name" | "subresource">,
  verb: Verb,
  byController = false,
): ServedVersion {
  const { group, version, resource, namespace, name, subresource } = route;
  const served = byController
    ? cluster.table.findStored(group, version, resource)
    : cluster.table.find(group, version, resource);
  const missing = (): ApiError =>
    served?.resource.kind.builtIn || cluster.table.resources.some(({ kind }) => kind.builtIn && kind.group === group)
      ? pathNotFound()
      : new PageNotFound();
  if (!served) throw missing();
  const { kind, namespaced } = served.resource;
  if (!namespaced && namespace !== undefined) throw missing();
  if (namespaced && namespace === undefined) {
    if (name !== undefined || (kind.verbs && !kind.verbs.includes("list"))) throw missing();
    if (verb !== "list" && verb !== "watch") throw methodNotAllowed();
  }
  if (subresource === undefined) {
    // A review has no stored objects, so paths with a name do not exist.
    if (kind.verbs && name !== undefined && !kind.verbs.includes("get")) throw pathNotFound();
    if (kind.verbs && !kind.verbs.includes(verb)) throw methodNotAllowed();
    // Namespaces cannot be deleted as a collection: too much would be deleted at once.
    if (verb === "deletecollection" && isNamespaceKind(served.resource)) throw methodNotAllowed();
    return served;
  }
  if (connectHandler(served, subresource) || connectShape(served.resource, subresource)) return served;
  if (kind.subresources.actions && Object.hasOwn(kind.subresources.actions, subresource))
    return checkSubresource(served, verb, ["create"]);
  if (partOf(served, subresource)) return checkSubresource(served, verb, ["get", "update", "patch"]);
  if (subresource === "status" && served.subresources.status)
    return checkSubresource(served, verb, ["get", "update", "patch"]);
  if (subresource === "scale" && served.subresources.scale)
    return checkSubresource(served, verb, ["get", "update", "patch"]);
  if (subresource === "finalize" && isNamespaceKind(served.resource)) return checkSubresource(served, verb, ["update"]);
  throw kind.builtIn ? pathNotFound() : notFound(served.resource.name, name ?? "");
}

/** The handler of a connect subresource. The name comes from a path, so only own properties count. */
export function connectHandler({ resource }: ServedVersion, subresource: string): ConnectHandler | undefined {
  const { connect } = resource.kind.subresources;
  return connect && Object.hasOwn(connect, subresource) ? connect[subresource] : undefined;
}

function checkSubresource(served: ServedVersion, verb: Verb, verbs: readonly Verb[]): ServedVersion {
  if (!verbs.includes(verb))
    throw served.resource.kind.builtIn ? methodNotAllowed() : verbNotSupported(served.resource.name, verb);
  return served;
}

/** The cluster and the resource that a request names. Throws 400, 404 and 405. */
export function findTarget(
  deps: Pick<OperationDependencies, "clusters">,
  clusterName: string,
  route: Parameters<typeof findResource>[1],
  verb: Verb,
  byController: boolean,
): Pick<RequestContext, "cluster" | "served"> {
  const cluster = findCluster(deps, clusterName);
  const served = findResource(cluster, route, verb, byController);
  if (route.name !== undefined) checkName(route.name);
  return { cluster, served };
}

/** Names that would have another meaning in a path. */
function checkName(name: string): void {
  if (name === "." || name === "..")
    throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not be '${name}'`);
  if (name.includes("%")) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not contain '%'`);
}

/** The cluster that a request is for. */
export function findCluster({ clusters }: Pick<OperationDependencies, "clusters">, name: string): LogicalCluster {
  const cluster = clusters.get(name);
  if (!cluster) throw clusterNotFound(name);
  return cluster;
}

/** Awaited only when others decide. */
export function authorize(
  { authorizer }: Pick<OperationDependencies, "authorizer">,
  request: AccessRequest,
  audit?: AuditRecord,
): void | Promise<void> {
  return after(authorizer.decide(request), (decision) => {
    if (audit) {
      audit.annotate("authorization.k8s.io/decision", decision.allowed ? "allow" : "forbid");
      audit.annotate("authorization.k8s.io/reason", decision.error === undefined ? decision.reason : "internal error");
    }
    confirm(request, decision);
  });
}

/**
 * Resolves when a write may begin; undefined when no watcher is lagging. Reads, lease renewals and reviews are not
 * delayed, nor are controllers of this server by the watches of others: one slow client would slow the whole fleet.
 */
export function roomToWrite(
  deps: OperationDependencies,
  context: RequestContext,
  verb: OperationVerb,
): Promise<void> | undefined {
  if (verb === "get" || verb === "list" || isUrgent(deps, context)) return undefined;
  const { cluster, user, byController, signal } = context;
  const client = clientKeyOf(cluster.name, user.name);
  return deps.pressure.room(cluster.name, signal, client, { onlyOwn: byController });
}

/** Reviews have no watchers. */
function isUrgent({ actions }: OperationDependencies, { served, subresource }: RequestContext): boolean {
  return served.resource.name.group === "coordination.k8s.io" || actions.of(served, subresource) !== undefined;
}

/** The timeout that a request names. Throws 400. */
export const timeoutOf = ({ query }: RequestContext, verb: OperationVerb): number | undefined =>
  timeoutMsOf(query, longest(METHODS[verb]));

/** The result of an operation within its time: at once for most reads. `onEnd` is called when it is done. */
export function operate(
  deps: OperationDependencies,
  context: RequestContext,
  { verb, input, timeoutMs, onEnd }: Operation,
): Answer | Promise<Answer> {
  let work: Answer | Promise<Answer>;
  try {
    work = verb === "get" || verb === "list" ? perform(deps, context, verb, input) : write(deps, context, verb, input);
  } catch (error) {
    onEnd();
    throw error;
  }
  if (isPromise(work)) return withinTime(deps.clock, timeoutMs, work.finally(onEnd));
  onEnd();
  return work;
}

interface Operation {
  readonly verb: OperationVerb;
  readonly input: Input;
  readonly timeoutMs: number | undefined;
  onEnd(): void;
}

async function write(
  deps: OperationDependencies,
  context: RequestContext,
  verb: OperationVerb,
  input: Input,
): Promise<Answer> {
  const fence = context.query.get(FENCE);
  try {
    // A fenced write takes effect only while its writer holds the Leases that it names.
    const fenced = fence === null ? deps : { ...deps, store: fenceStore(deps.store, deps.cache, fence) };
    return await perform(fenced, context, verb, input);
  } catch (error) {
    // Unknown fields are also reported for a body that is rejected for other reasons.
    if ((verb !== "create" && verb !== "update") || !(error instanceof ApiError)) throw error;
    if (context.pause) await context.pause();
    const sent = input.object();
    if (context.pause) await context.pause();
    reportUnknownFields(deps, context, sent, verb);
    throw explainUnreadable(context, error);
  }
}

/** The result of an operation, in a form that can be rendered without waiting. */
function perform(
  deps: OperationDependencies,
  context: RequestContext,
  verb: OperationVerb,
  input: Input,
): Answer | Promise<Answer> {
  const answer = carryOut(deps, context, verb, input);
  if (!context.served.resource.conversion) return answer;
  return after(answer, (result) => {
    if (result.type === "object") return result;
    const entries = result.type === "entry" ? [result.entry] : result.result.entries;
    const preparing = deps.conversions.prepare(context.cluster, result.served, entries, context.signal);
    return preparing ? preparing.then(() => result) : result;
  });
}

function carryOut(
  deps: OperationDependencies,
  context: RequestContext,
  verb: OperationVerb,
  input: Input,
): Answer | Promise<Answer> {
  const { served, subresource } = context;
  if (served.deprecationWarning !== undefined) {
    context.warn(served.deprecationWarning);
    context.audit?.annotate("k8s.io/deprecated", "true");
  }
  if (subresource === "scale") return operateScale(deps, context, verb, input);
  const action = verb === "create" ? deps.actions.of(served, subresource) : undefined;
  if (action) return action.run(deps, context, input);
  if (verb === "get")
    return after(getObject(deps, context), (entry) => {
      const answer: Answer = { type: "entry", entry, served, code: 200 };
      if (!served.resource.kind.source?.about) return answer;
      return confirmSubject(deps.authorizer, context, objectIn(entry, served)).then(() => answer);
    });
  if (verb === "list") return after(listObjects(deps, context), (result) => ({ type: "list", result, served }));
  return change(deps, context, verb, input);
}

async function change(
  deps: OperationDependencies,
  context: RequestContext,
  verb: Exclude<OperationVerb, "get" | "list">,
  input: Input,
): Promise<Answer> {
  const { served } = context;
  switch (verb) {
    case "create": {
      const sent = input.object();
      if (context.pause) await context.pause();
      const { entry } = await createObject(deps, context, sent);
      return { type: "entry", entry, served, code: 201 };
    }
    case "update": {
      const sent = input.object();
      if (context.pause) await context.pause();
      const { entry, created } = await updateObject(deps, context, sent);
      return { type: "entry", entry, served, code: created ? 201 : 200 };
    }
    case "patch": {
      const type = input.patchType();
      const sent = input.patch();
      if (context.pause) await context.pause();
      const { entry, created } = await patchObject(deps, context, type, sent);
      return { type: "entry", entry, served, code: created ? 201 : 200 };
    }
    case "delete": {
      const options = deletionOptions(context, input.value());
      const { entry, gone } = await deleteObject(deps, context, options);
      // A client that uses the deprecated orphanDependents option receives 202 when dependents are deleted first.
      if (!gone) return { type: "entry", entry, served, code: options.orphanDependents === false ? 202 : 200 };
      if (answersWithObject(served.resource)) return { type: "entry", entry, served, code: 200 };
      return {
        type: "object",
        object: deletedStatus(served.resource, objectIn(entry, served.resource.storage)) as unknown as JsonObject,
        code: 200,
      };
    }
    default:
      return {
        type: "list",
        result: await deleteCollection(deps, context, deletionOptions(context, input.value())),
        served,
      };
  }
}

async function operateScale(
  deps: OperationDependencies,
  context: RequestContext,
  verb: Verb,
  input: Input,
): Promise<Answer> {
  if (verb === "get") {
    const entry = await getObject(deps, context);
    await deps.conversions.prepare(context.cluster, context.served, [entry], context.signal);
    return { type: "object", object: scaleOf(context, objectIn(entry, context.served)), code: 200 };
  }
  const body: ScaleBody =
    verb === "patch" ? { type: input.patchType(), sent: input.patch() } : { type: "update", sent: input.object() };
  return {
    type: "object",
    object: await updateScale(deps, context, verb === "patch" ? "patch" : "update", body),
    code: 200,
  };
}
