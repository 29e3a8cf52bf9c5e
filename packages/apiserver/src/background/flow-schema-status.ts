/**
 * Keeps the objects of priority and fairness as Kubernetes does.
 *
 * Reads:  FlowSchema, PriorityLevelConfiguration.
 * Writes: the condition `Dangling` of FlowSchemas: whether their priority level exists. Mandatory objects that were
 *         deleted are created again.
 */
import {
  danglingCondition,
  FlowSchema,
  foundCondition,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  PriorityLevelConfiguration,
} from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { isMarker } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, keyOf } from "../resources/resources.ts";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import type { Housekeeping } from "./housekeeping.ts";

const PREFIX = `/${FlowSchema.group}/`;

export interface FlowSchemaStatus {
  load(entries: readonly CachedEntry[]): void;
  observe(event: CacheEvent): void;
}

export function createFlowSchemaStatus(deps: {
  housekeeping: Pick<Housekeeping, "enqueue" | "rewrite" | "create">;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
}): FlowSchemaStatus {
  const { housekeeping, store, clusters, clock } = deps;

  const check = (name: string): void => {
    housekeeping.enqueue(`flow schemas of ${name}`, async () => {
      const cluster = clusters.get(name);
      const levelResource = cluster?.table.resource(
        PriorityLevelConfiguration.group,
        PriorityLevelConfiguration.plural,
      );
      const schemaResource = cluster?.table.resource(FlowSchema.group, FlowSchema.plural);
      if (!cluster || !levelResource || !schemaResource) return;
      for (const [resource, mandatory] of [
        [levelResource, mandatoryPriorityLevels()],
        [schemaResource, mandatoryFlowSchemas(formatTime(clock.now()))],
      ] as const) {
        for (const object of mandatory) {
          const key = keyOf(resource, name, undefined, object.metadata.name);
          if (!store.find(cluster, resource, key).entry) await housekeeping.create(key, object);
        }
      }
      const levels = new Set(
        store.list(cluster, levelResource).map((entry) => nameOf(objectIn(entry, levelResource.storage))),
      );
      for (const entry of store.list(cluster, schemaResource)) {
        const object = objectIn(entry, schemaResource.storage);
        if (!checkedStatus(object, levels, clock.now())) continue;
        await housekeeping.rewrite(keyOf(schemaResource, name, undefined, nameOf(object)), "status", (current) => {
          const status = checkedStatus(current, levels, clock.now());
          return status ? { ...current, status } : current;
        });
      }
    });
  };

  return {
    load(entries) {
      for (const name of new Set(
        entries.filter((entry) => entry.key.startsWith(PREFIX) && !isMarker(entry)).map(({ key }) => clusterOfKey(key)),
      ))
        check(name);
    },
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (key.startsWith(PREFIX)) check(clusterOfKey(key));
    },
  };
}

const nameOf = (object: JsonObject): string => (object.metadata as { name: string }).name;

/** The status with the right condition; undefined when the object has it. */
function checkedStatus(object: JsonObject, levels: ReadonlySet<string>, nowMs: number): JsonObject | undefined {
  const { spec, status } = object as unknown as DeepReadonly<FlowSchema>;
  const level = spec.priorityLevelConfiguration.name;
  const conditions = status?.conditions ?? [];
  const wanted = (levels.has(level) ? foundCondition : danglingCondition)(level, formatTime(nowMs));
  const known = conditions.find(({ type }) => type === wanted.type);
  if (known && known.status === wanted.status && known.message === wanted.message) return undefined;
  return {
    ...(status as JsonObject | undefined),
    conditions: [...conditions.filter(({ type }) => type !== wanted.type), wanted] as unknown as JsonObject[],
  };
}
