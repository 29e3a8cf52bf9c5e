/** The stored record of a logical cluster. */
import { HUB, LOGICAL_CLUSTER_FINALIZER } from "@flotilla/apimachinery";
import { formatTime, randomUuid } from "@flotilla/base";
import type { Clock, JsonObject, Random } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import { LogicalCluster as LogicalClusterKind } from "./logical-cluster-kind.ts";
import type { LogicalCluster as ClusterRecord } from "./logical-cluster-kind.ts";

/**
 * Clusters are objects of the hub: the hub serves them like any other kind, and this registry follows the stored
 * objects.
 */
export const RECORDS = `/${LogicalClusterKind.group}/${LogicalClusterKind.plural}/${HUB}/`;

/** The name of the cluster whose record has this key. */
export const clusterOfRecord = (key: string): string => key.slice(RECORDS.length);

export function recordIn({ value }: CachedEntry): ClusterRecord {
  return JSON.parse(new TextDecoder().decode(value)) as ClusterRecord;
}

/** The cluster is marked for deletion. */
export const isRemoved = ({ metadata }: ClusterRecord): boolean => metadata.deletionTimestamp !== undefined;

/** The object as the API would have stored it. */
export function newRecord(
  name: string,
  profile: string,
  { clock, random }: { clock: Clock; random: Random },
): JsonObject {
  const { group, storageVersion, kind } = LogicalClusterKind;
  const metadata = {
    name,
    uid: randomUuid(random),
    creationTimestamp: formatTime(clock.now()),
    generation: 1,
    finalizers: [LOGICAL_CLUSTER_FINALIZER],
  };
  return { apiVersion: `${group}/${storageVersion}`, kind, metadata, spec: { profile } };
}

/** The record with the mark for deletion. */
export function markedRecord(record: ClusterRecord, { clock }: { clock: Clock }): JsonObject {
  const marked = {
    ...record,
    metadata: { ...record.metadata, deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 0 },
  };
  return marked as unknown as JsonObject;
}
