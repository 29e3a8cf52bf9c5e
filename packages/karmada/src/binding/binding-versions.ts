/**
 * Converts bindings to v1alpha1, which stores the replicas and their requirements in the object reference, and has
 * neither placement nor health. Reading v1alpha1 drops fields that it lacks; `../webhook/webhook.ts` rejects writes in
 * that version.
 */
import { isObject, type Json, type JsonObject, defined } from "@flotilla/base";

const GROUP = "work.karmada.io";
/** The fields of the object reference that v1alpha1 keeps. */
const REFERENCE = ["apiVersion", "kind", "namespace", "name", "resourceVersion"];
const STATUS_ITEM = ["clusterName", "status", "applied", "appliedMessage"];
const TARGET = ["name", "replicas"];

export function fromStorage(object: JsonObject): JsonObject {
  const { spec, status, ...rest } = object;
  return {
    ...rest,
    apiVersion: `${GROUP}/v1alpha1`,
    ...defined({ spec: isObject(spec) ? olderSpec(spec) : undefined }),
    status: isObject(status) ? sharedStatus(status) : {},
  };
}

function olderSpec({ resource, replicas, replicaRequirements, clusters }: JsonObject): JsonObject {
  const request = isObject(replicaRequirements) ? replicaRequirements["resourceRequest"] : undefined;
  return {
    resource: {
      ...only(resource, REFERENCE),
      ...given("resourcePerReplicas", request),
      ...given("replicas", replicas),
    },
    ...given("clusters", items(clusters, TARGET)),
  };
}

export function toStorage(object: JsonObject): JsonObject {
  const { spec, status, ...rest } = object;
  return {
    ...rest,
    apiVersion: `${GROUP}/v1alpha2`,
    ...defined({
      spec: isObject(spec) ? newerSpec(spec) : undefined,
      status: isObject(status) ? sharedStatus(status) : undefined,
    }),
  };
}

function newerSpec({ resource, clusters }: JsonObject): JsonObject {
  const { resourcePerReplicas, replicas } = isObject(resource) ? resource : {};
  return {
    resource: only(resource, REFERENCE),
    ...defined({
      replicaRequirements: resourcePerReplicas === undefined ? undefined : { resourceRequest: resourcePerReplicas },
    }),
    ...given("replicas", replicas),
    ...given("clusters", items(clusters, TARGET)),
  };
}

function sharedStatus({ conditions, aggregatedStatus }: JsonObject): JsonObject {
  return { ...given("conditions", conditions), ...given("aggregatedStatus", items(aggregatedStatus, STATUS_ITEM)) };
}

const given = (name: string, value: Json | undefined): JsonObject => (value === undefined ? {} : { [name]: value });

function items(list: Json | undefined, fields: readonly string[]): Json | undefined {
  return Array.isArray(list) ? list.map((item) => only(item, fields)) : list;
}

function only(value: Json | undefined, fields: readonly string[]): JsonObject {
  const result: JsonObject = {};
  if (isObject(value)) for (const field of fields) if (value[field] !== undefined) result[field] = value[field];
  return result;
}
