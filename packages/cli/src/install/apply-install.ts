/** Applies the objects of an installation phase by phase, and removes those that an earlier version had. */
import { findCondition, HUB, isNotFound, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { INSTALLED_LABEL } from "@flotilla/flotilla";
import type { InstallPlan } from "@flotilla/flotilla";
import { CustomResourceDefinition, kubernetesKinds, Namespace } from "@flotilla/kubernetes";

export interface InstallTools {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  progress(text: string): void;
}

/** Owns what an installation writes. */
const INSTALL_MANAGER = "flotilla-install";
const PARALLEL = 8;
const POLL_MS = 250;
const ESTABLISH_MS = 60_000;
const TERMINATE_MS = 120_000;

type Manifest = KubernetesObject & JsonObject;
type Change = "created" | "changed" | "unchanged" | "removed";
export interface ObjectChange {
  kind: string;
  namespace?: string | undefined;
  name: string;
  change: Change;
}

/** Kinds of which an installation removes what it no longer has. Definitions and namespaces have objects of users. */
const REMOVABLE = [
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Service",
  "Deployment",
  "PodDisruptionBudget",
  "NetworkPolicy",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
  "APIService",
] as const;

const kindOfManifest = ({ apiVersion, kind }: { apiVersion: string; kind: string }): Kind<Manifest> => {
  const { group } = parseApiVersion(apiVersion);
  const found = kubernetesKinds.find((each) => each.group === group && each.kind === kind);
  if (!found) throw new FlotillaError("Install", `${kind} of ${apiVersion} is not a kind of Kubernetes`);
  return found as Kind<Manifest>;
};

const removableKinds = (): Kind<Manifest>[] =>
  REMOVABLE.flatMap((name) => kubernetesKinds.filter(({ kind }) => kind === name)) as Kind<Manifest>[];

/** Returns what was, or in a dry run what would be, changed. */
export async function applyInstall(plan: InstallPlan, tools: InstallTools, dryRun: boolean): Promise<ObjectChange[]> {
  const changes: ObjectChange[] = [];
  const phase = async (text: string, objects: readonly JsonObject[]): Promise<void> => {
    tools.progress(text);
    changes.push(...(await applyAll(objects as Manifest[], tools, dryRun)));
  };
  if (!dryRun) await whenNotTerminating(plan.namespaces as Manifest[], tools);
  await phase("creating namespaces", plan.namespaces);
  await phase("applying definitions", plan.definitions);
  if (!dryRun) await whenEstablished(plan.definitions as Manifest[], tools);
  await phase("granting permissions", plan.access);
  await phase("applying programs", plan.programs);
  await phase("applying admission", plan.admission);
  await phase("applying aggregated APIs", plan.apiServices);
  tools.progress("removing what is no longer part of it");
  changes.push(...(await removeOthers(plan, tools, dryRun)));
  await phase("writing the record", [plan.record]);
  return changes;
}

async function applyAll(objects: readonly Manifest[], tools: InstallTools, dryRun: boolean): Promise<ObjectChange[]> {
  const changes: ObjectChange[] = [];
  const next = objects.values();
  const work = async (): Promise<void> => {
    for (const object of next) changes.push(await applyOne(object, tools, dryRun));
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return changes;
}

async function applyOne(object: Manifest, { client, signal }: InstallTools, dryRun: boolean): Promise<ObjectChange> {
  const kind = kindOfManifest(object);
  const { namespace, name } = object.metadata;
  const about = { kind: object.kind, namespace, name };
  const before = await find(client, kind, { cluster: HUB, namespace, name }, { signal });
  if (dryRun && !before) return { ...about, change: "created" };
  try {
    const after = await client.apply(kind, HUB, object, {
      force: true,
      dryRun,
      fieldManager: INSTALL_MANAGER,
      signal,
    });
    return { ...about, change: before ? (isSame(before, after) ? "unchanged" : "changed") : "created" };
  } catch (error) {
    throw new FlotillaError("Install", `applying ${object.kind} ${namespace ? `${namespace}/` : ""}${name} failed`, {
      cause: error,
    });
  }
}

/** Whether an apply changed more than the record of who did. */
function isSame(before: DeepReadonly<Manifest>, after: DeepReadonly<Manifest>): boolean {
  const plain = ({ metadata, ...object }: DeepReadonly<Manifest>): JsonObject => {
    const { managedFields: _, resourceVersion: __, generation: ___, ...rest } = metadata;
    const { status: ____, ...fields } = object as JsonObject;
    return { ...fields, metadata: rest } as unknown as JsonObject;
  };
  return equalJson(plain(before), plain(after));
}

/** A namespace that an uninstallation deleted takes a while to disappear, and takes no objects meanwhile. */
async function whenNotTerminating(namespaces: readonly Manifest[], tools: InstallTools): Promise<void> {
  const { client, clock, signal } = tools;
  for (const { metadata } of namespaces) {
    const { name } = metadata;
    for (const untilMs = clock.now() + TERMINATE_MS; ;) {
      const found = await find(client, Namespace, { cluster: HUB, name }, { signal });
      if (found?.metadata.deletionTimestamp === undefined) break;
      if (clock.now() > untilMs)
        throw new FlotillaError(
          "Install",
          `the namespace ${name} is still being deleted after ${TERMINATE_MS / 1000} s; 'kubectl get namespace ${name} -o yaml' says what it waits for`,
        );
      tools.progress(`waiting until the namespace ${name} is deleted`);
      await sleep(clock, POLL_MS, signal);
    }
  }
}

async function whenEstablished(definitions: readonly Manifest[], tools: InstallTools): Promise<void> {
  const { client, clock, signal } = tools;
  const wanted = new Set(definitions.map(({ metadata }) => metadata.name));
  for (const untilMs = clock.now() + ESTABLISH_MS; ;) {
    const { items } = await client.list(CustomResourceDefinition, { cluster: HUB, signal });
    const established = items.filter(
      ({ metadata, status }) =>
        wanted.has(metadata.name) && findCondition(status?.conditions ?? [], "Established")?.status === "True",
    );
    if (established.length === wanted.size) return;
    const open = [...wanted].find((name) => !established.some(({ metadata }) => metadata.name === name)) ?? "";
    if (clock.now() > untilMs) {
      const { status } = items.find(({ metadata }) => metadata.name === open) ?? {};
      const accepted = findCondition(status?.conditions ?? [], "NamesAccepted");
      throw new FlotillaError(
        "Install",
        `the API server does not serve ${open} after ${ESTABLISH_MS / 1000} s${accepted?.status === "False" ? `: ${accepted.message}` : ""}`,
      );
    }
    tools.progress(`waiting for the API server to serve ${open}`);
    await sleep(clock, POLL_MS, signal);
  }
}

/** Objects with our label that this version does not have. */
async function removeOthers(plan: InstallPlan, tools: InstallTools, dryRun: boolean): Promise<ObjectChange[]> {
  const idOf = ({ kind, metadata }: { kind: string; metadata: { namespace?: string; name: string } }): string =>
    `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  const kept = new Set(
    [...plan.access, ...plan.programs, ...plan.admission, ...plan.apiServices].map((object) =>
      idOf(object as Manifest),
    ),
  );
  const changes: ObjectChange[] = [];
  for (const found of await installedObjects(tools)) {
    const { kind, object } = found;
    if (kept.has(idOf(object))) continue;
    const { namespace, name } = object.metadata;
    if (!dryRun) await removeObject(found, tools);
    changes.push({ kind: kind.kind, namespace, name, change: "removed" });
  }
  return changes;
}

export interface InstalledObject {
  kind: Kind<Manifest>;
  object: Manifest;
}

/** Everything with our label that may be removed. */
export async function installedObjects({ client, signal }: InstallTools): Promise<InstalledObject[]> {
  const found: InstalledObject[] = [];
  for (const kind of removableKinds()) {
    const { items } = await client.list(kind, { cluster: HUB, labelSelector: INSTALLED_LABEL, signal });
    // Items of a list need not name their kind.
    for (const item of items) found.push({ kind, object: { ...item, kind: kind.kind } as Manifest });
  }
  return found;
}

export async function removeObject({ kind, object }: InstalledObject, { client, signal }: InstallTools): Promise<void> {
  const { namespace, name, uid } = object.metadata;
  await client
    .delete(
      kind as unknown as Kind,
      { cluster: HUB, namespace, name },
      { signal, preconditions: { uid }, propagationPolicy: "Background" },
    )
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}
