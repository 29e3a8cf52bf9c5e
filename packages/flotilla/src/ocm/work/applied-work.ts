/**
 * The AppliedManifestWork of a work on a member: it owns the objects and lists them with their uids. It is created
 * before the first object, because a member's garbage collector deletes objects whose owner does not exist.
 */
import { APPLIED_MANIFEST_WORK_FINALIZER, AppliedManifestWork, ocmMemberDefinitions } from "@flotilla/ocm";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { AppliedManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import type { OwnerReference } from "@flotilla/apimachinery";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { unlessChanged } from "@flotilla/controller-runtime";
import { appliedWorkRef, type WorkMember, type WorkObjects } from "./member-objects.ts";

type Work = DeepReadonly<ManifestWork>;
export type Applied = DeepReadonly<AppliedManifestWork>;
export type AppliedResource = DeepReadonly<AppliedManifestResourceMeta>;

/**
 * The origin of an AppliedManifestWork: the hub, by its hash, and the agent, which may serve several hubs over time.
 */
export interface WorkOrigin {
  hubHash: string;
  agentID: string;
}

export const appliedName = ({ hubHash }: WorkOrigin, { metadata }: Work): string => `${hubHash}-${metadata.name}`;

/** Replaces names of this hub's AppliedManifestWorks in a text with the names of their works. */
export const withWorkNames = (text: string, { hubHash }: WorkOrigin, { metadata }: Work): string =>
  text.replaceAll(`${hubHash}-`, `ManifestWork ${metadata.namespace}/`);

export function referenceTo({ metadata: { name, uid = "" } }: Applied): OwnerReference {
  return {
    apiVersion: `${AppliedManifestWork.group}/${AppliedManifestWork.storageVersion}`,
    kind: AppliedManifestWork.kind,
    name,
    uid,
  };
}

/** Undefined if the member has none. The informer may be stale; then the member is asked. */
export async function findApplied(
  work: Work,
  name: string,
  member: WorkMember,
  objects: WorkObjects,
  beforeRequest: () => void,
  signal: AbortSignal,
): Promise<Applied | undefined> {
  const ref = appliedWorkRef(name);
  const seen = objects.get(work, ref);
  if (seen || objects.isFresh(work, ref)) return seen as Applied | undefined;
  beforeRequest();
  return find(member.client, AppliedManifestWork, { cluster: member.cluster, name }, { signal });
}

export async function createApplied(
  work: Work,
  name: string,
  origin: WorkOrigin,
  { client, cluster }: WorkMember,
  signal: AbortSignal,
): Promise<Applied> {
  const wanted: AppliedManifestWork = {
    apiVersion: `${AppliedManifestWork.group}/${AppliedManifestWork.storageVersion}`,
    kind: AppliedManifestWork.kind,
    metadata: {
      name,
      finalizers: [APPLIED_MANIFEST_WORK_FINALIZER],
      labels: work.metadata.labels ? { ...work.metadata.labels } : undefined,
    },
    spec: { ...origin, manifestWorkName: work.metadata.name },
  };
  try {
    return await client.create(AppliedManifestWork, cluster, wanted, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return client.get(AppliedManifestWork, { cluster, name }, { signal });
    // A member that never had an agent lacks the CRD.
    if (isNotFound(error)) await defineKinds(client, cluster, signal);
    throw error;
  }
}

/** Records the hub and agent in the AppliedManifestWork: an agent that took over from another one writes its own id. */
export async function claimApplied(
  applied: Applied,
  origin: WorkOrigin,
  { client, cluster }: WorkMember,
  beforeRequest: () => void,
  signal: AbortSignal,
): Promise<Applied> {
  const { hubHash, agentID } = applied.spec;
  if (applied.metadata.deletionTimestamp || (hubHash === origin.hubHash && agentID === origin.agentID)) return applied;
  beforeRequest();
  return client.patch(
    AppliedManifestWork,
    { cluster, name: applied.metadata.name },
    { spec: { ...origin } },
    { type: "merge", signal },
  );
}

async function defineKinds(client: WorkMember["client"], cluster: string, signal: AbortSignal): Promise<void> {
  for (const definition of ocmMemberDefinitions()) {
    try {
      await client.create(CustomResourceDefinition, cluster, definition, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

/** Records the work's objects on the member, if the list changed. */
export async function recordResources(
  applied: Applied,
  resources: readonly AppliedResource[],
  { client, cluster }: WorkMember,
  beforeRequest: () => void,
  signal: AbortSignal,
): Promise<void> {
  const appliedResources = resources.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  if (equalJson(applied.status?.appliedResources ?? [], appliedResources)) return;
  beforeRequest();
  await client.patch(
    AppliedManifestWork,
    { cluster, name: applied.metadata.name },
    { metadata: { uid: applied.metadata.uid ?? null }, status: { appliedResources } },
    { type: "merge", subresource: "status", signal },
  );
}

const orderOf = (given: AppliedResource): string => {
  const { group = "", version, resource, namespace = "", name } = given;
  return [group, version, resource, namespace, name].join("\u0000");
};

/** Removes the AppliedManifestWork. Its objects must already be deleted or released. */
export async function removeApplied(
  { metadata }: Applied,
  { client, cluster }: WorkMember,
  signal: AbortSignal,
): Promise<void> {
  const key = { cluster, name: metadata.name };
  const left = metadata.finalizers?.filter((finalizer) => finalizer !== APPLIED_MANIFEST_WORK_FINALIZER) ?? [];
  if (!metadata.deletionTimestamp)
    await unlessChanged(
      client.delete(AppliedManifestWork, key, {
        preconditions: metadata.uid ? { uid: metadata.uid } : undefined,
        signal,
      }),
    );
  if (left.length === metadata.finalizers?.length) return;
  await unlessChanged(
    client.patch(
      AppliedManifestWork,
      key,
      { metadata: { uid: metadata.uid ?? null, finalizers: left.length > 0 ? left : null } },
      { type: "merge", signal },
    ),
  );
}
