/**
 * Removes an installation. Programs go first: what they would do about the removal of the rest must not happen. Nothing on
 * members is changed, and no template is deleted.
 */
import { HUB, inVersion, isConflict, isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject, find, readText } from "@flotilla/client";
import {
  CONTROLLERS_NAME,
  INSTALL_RECORD,
  INSTALLED_LABEL,
  installedKinds,
  STORED_CLUSTERS,
  WEBHOOKS_CERTIFICATE,
  WEBHOOKS_NAME,
} from "@flotilla/flotilla";
import { Cluster, clusterNameOf, KARMADA_CLUSTER_NAMESPACE, KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { ConfigMap, CustomResourceDefinition, Deployment, Lease, Namespace, Secret } from "@flotilla/kubernetes";
import { OCM_HUB_NAMESPACE, OCM_NAMESPACE } from "@flotilla/ocm";
import { readControllers } from "../health/controllers-state.ts";
import { installedObjects, removeObject } from "./apply-install.ts";
import type { InstallTools, ObjectChange } from "./apply-install.ts";

export interface RemovalOptions {
  namespace: string;
  /** Also deletes the definitions of Karmada's and Open Cluster Management's kinds, and with them the fleet. */
  deletesFleet: boolean;
  waitMs: number;
}

const POLL_MS = 500;
/** It takes a second or two; what follows does not depend on it, unless the fleet is deleted. */
const SERVED_AGAIN_MS = 30_000;
const FLEET_KINDS = installedKinds([]);
const nameOf = ({ plural, group }: Kind): string => `${plural}.${group}`;

/** What a removal would do, in words; the objects that it deletes are counted. */
export interface RemovalPreview {
  objects: number;
  members: number;
  works: number;
}

export async function removeInstall(options: RemovalOptions, tools: InstallTools): Promise<ObjectChange[]> {
  const changes: ObjectChange[] = [];
  const removed = (kind: string, name: string, namespace?: string): void =>
    void changes.push({ kind, namespace, name, change: "removed" });
  await stopPrograms(options, tools);

  tools.progress("removing admission and aggregated APIs");
  const objects = await installedObjects(tools);
  // The API server depends on the webhooks until these are gone.
  const first = new Set([
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
    "APIService",
  ]);
  const ordered = [
    ...objects.filter(({ kind }) => first.has(kind.kind)),
    ...objects.filter(({ kind }) => !first.has(kind.kind)),
  ];
  for (const found of ordered) {
    await removeObject(found, tools);
    removed(found.kind.kind, found.object.metadata.name, found.object.metadata.namespace);
  }

  await releaseDefinitions(options, tools);
  await whenServedAgain(tools);
  if (options.deletesFleet) for (const name of await deleteFleet(tools)) removed("CustomResourceDefinition", name);
  for (const [kind, name] of [
    [Secret, WEBHOOKS_CERTIFICATE],
    [ConfigMap, INSTALL_RECORD],
  ] as const) {
    const { namespace } = options;
    if (await remove(tools, kind, { namespace, name })) removed(kind.kind, name, namespace);
  }
  if (options.deletesFleet) {
    const { items } = await tools.client.list(Namespace, { cluster: HUB, signal: tools.signal });
    for (const { metadata } of items) {
      if (clusterNameOf(metadata.name) === undefined) continue;
      await remove(tools, Namespace, { name: metadata.name });
      removed("Namespace", metadata.name);
    }
  }
  const namespaces = [
    options.namespace,
    ...(options.deletesFleet
      ? [KARMADA_SYSTEM_NAMESPACE, KARMADA_CLUSTER_NAMESPACE, OCM_NAMESPACE, OCM_HUB_NAMESPACE]
      : []),
  ];
  for (const name of namespaces) {
    const found = await find(tools.client, Namespace, { cluster: HUB, name }, { signal: tools.signal });
    // One that existed before the installation is not ours to delete.
    if (found?.metadata.labels?.[INSTALLED_LABEL] === undefined) continue;
    await remove(tools, Namespace, { name });
    removed("Namespace", name);
  }
  return changes;
}

export async function previewRemoval({ client, signal }: InstallTools): Promise<RemovalPreview> {
  const preview = { objects: 0, members: 0, works: 0 };
  for (const kind of FLEET_KINDS) {
    // The process that serves Clusters may have stopped; the API server has them in a version of its own.
    const versions = kind === Cluster ? [inVersion(kind, STORED_CLUSTERS), kind] : [kind];
    const items = await listFirst(client, versions, signal);
    preview.objects += items.length;
    if (kind.kind === "Cluster") preview.members += items.length;
    if (kind.kind === "Work" || kind.kind === "ManifestWork") preview.works += items.length;
  }
  return preview;
}

/** The objects in the first of these versions that is served; none if none is. */
async function listFirst(
  client: InstallTools["client"],
  [version, ...others]: readonly Kind[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (!version) return [];
  try {
    return (await client.list(version, { cluster: HUB, signal })).items;
  } catch (error) {
    if (isNotFound(error)) return listFirst(client, others, signal);
    throw error;
  }
}

/** Resolves when no controllers run any more. */
async function stopPrograms({ namespace, waitMs }: RemovalOptions, tools: InstallTools): Promise<void> {
  const { client, clock, signal } = tools;
  tools.progress("stopping the controllers");
  await remove(tools, Deployment, { namespace, name: CONTROLLERS_NAME });
  for (const untilMs = clock.now() + waitMs; ;) {
    const { state } = await readControllers({ client, clock, signal });
    if (state !== "running" && state !== "partial") return;
    if (clock.now() >= untilMs) {
      const lease = await find(
        client,
        Lease,
        { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, name: CONTROLLERS_NAME },
        { signal },
      );
      throw new FlotillaError(
        "Uninstall",
        `controllers still run after ${waitMs / 1000} s (${lease?.spec?.holderIdentity ?? "unknown"}); ` +
          "they would delete workloads on members while their objects are removed. Stop 'flotilla " +
          "controllers' and run this again. Nothing else was removed",
      );
    }
    tools.progress("waiting for the controllers to stop");
    await sleep(clock, POLL_MS, signal);
  }
}

/**
 * No process converts versions or serves Clusters any more: definitions that stay serve the version that is stored, which
 * needs neither.
 */
async function releaseDefinitions({ namespace }: RemovalOptions, tools: InstallTools): Promise<void> {
  const { client, signal } = tools;
  tools.progress("releasing definitions");
  const { items } = await client.list(CustomResourceDefinition, {
    cluster: HUB,
    labelSelector: INSTALLED_LABEL,
    signal,
  });
  for (const definition of items) {
    const released = releasedDefinition(definition, namespace);
    if (released) await client.update(CustomResourceDefinition, HUB, released, { signal });
  }
}

/** The API server takes Clusters back after it has noticed that their APIService is gone. */
async function whenServedAgain({ client, clock, signal, progress }: InstallTools): Promise<void> {
  const { group, storageVersion, plural } = Cluster;
  for (const untilMs = clock.now() + SERVED_AGAIN_MS; clock.now() < untilMs;) {
    const path = `/apis/${group}/${storageVersion}/${plural}?limit=1`;
    const { status, body } = await client.raw({ method: "GET", path, cluster: HUB }, signal);
    await readText(body);
    if (status === 200) return;
    progress("waiting for the API server to serve Clusters itself");
    await sleep(clock, POLL_MS, signal);
  }
}

/** Undefined for a definition that needs no process of ours. Pure. */
export function releasedDefinition(
  definition: DeepReadonly<CustomResourceDefinition>,
  namespace: string,
): DeepReadonly<CustomResourceDefinition> | undefined {
  const { spec } = definition;
  const service = spec.conversion?.webhook?.clientConfig?.service;
  const isConverted = service?.namespace === namespace && service.name === WEBHOOKS_NAME;
  const isDoubled = spec.versions.some(({ name }) => name === STORED_CLUSTERS);
  if (!isConverted && !isDoubled) return undefined;
  return {
    ...definition,
    spec: {
      ...spec,
      conversion: { strategy: "None" },
      versions: spec.versions
        .filter(({ name }) => name !== STORED_CLUSTERS)
        .map((version) => (isConverted && !version.storage ? { ...version, served: false } : version)),
    },
  };
}

/**
 * Deletes the definitions of a fleet. Their objects have finalizers of controllers that no longer run; they are removed, so
 * that no agent takes a deletion for an order to delete workloads.
 */
async function deleteFleet(tools: InstallTools): Promise<string[]> {
  const { client, signal } = tools;
  const deleted: string[] = [];
  for (const kind of FLEET_KINDS) {
    tools.progress(`removing ${kind.plural}`);
    try {
      for await (const { metadata } of eachObject(client, kind, { cluster: HUB, limit: 100, signal })) {
        if (!metadata.finalizers?.length) continue;
        const { namespace, name } = metadata;
        await client
          .patch(
            kind,
            { cluster: HUB, namespace, name },
            { metadata: { finalizers: null } },
            {
              type: "merge",
              signal,
            },
          )
          .catch((error: unknown) => {
            if (!isNotFound(error) && !isConflict(error)) throw error;
          });
      }
    } catch (error) {
      if (!isNotFound(error)) throw error; // The definition is gone.
      continue;
    }
    if (await remove(tools, CustomResourceDefinition, { name: nameOf(kind) })) deleted.push(nameOf(kind));
  }
  return deleted;
}

/** False for what does not exist. */
async function remove(
  { client, signal }: InstallTools,
  kind: Kind,
  key: { namespace?: string; name: string },
): Promise<boolean> {
  try {
    await client.delete(kind, { cluster: HUB, ...key }, { signal, propagationPolicy: "Background" });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
