/**
 * Prunes a template before propagation: server-set metadata, status, and fields that a member allocates or generates
 * itself. Rules match group and kind, so a third-party `Job` is not changed.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { parseApiVersion } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { SERVICE_ACCOUNT_TOKEN } from "@flotilla/kubernetes";
import { knownKinds } from "./interpreter.ts";

type Manifest = DeepReadonly<KubernetesObject> & { readonly [field: string]: unknown };
type Fields = Readonly<Record<string, unknown>>;

const SERVER_SET = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
  "ownerReferences",
  "finalizers",
]);
const JOB_SELECTOR_LABELS = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const JOB_POD_LABELS = [...JOB_SELECTOR_LABELS, "job-name", "batch.kubernetes.io/job-name"];

const byKind: Readonly<Record<string, (manifest: Manifest) => Manifest>> = {
  "apps/Deployment": (manifest) =>
    withoutAnnotations(manifest, ["deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"]),
  "batch/Job": pruneJob,
  "/PersistentVolumeClaim": (manifest) =>
    manifest.metadata.annotations?.["volume.kubernetes.io/selected-node"]
      ? withoutAnnotations(manifest, ["volume.kubernetes.io/selected-node"])
      : manifest,
  "/Secret"(manifest) {
    if (manifest["type"] !== SERVICE_ACCOUNT_TOKEN) return manifest;
    const { data: _data, ...rest } = withoutAnnotations(manifest, ["kubernetes.io/service-account.uid"]);
    return rest;
  },
  "/Service"(manifest) {
    const { spec } = manifest;
    if (!isObject(spec) || spec["clusterIP"] === undefined || spec["clusterIP"] === "None") return manifest;
    const { clusterIP: _clusterIP, clusterIPs: _clusterIPs, ...rest } = spec;
    return { ...manifest, spec: rest };
  },
  "/ServiceAccount"(manifest) {
    const { secrets } = manifest;
    if (!Array.isArray(secrets)) return manifest;
    const generated = `${manifest.metadata.name}-token-`;
    return { ...manifest, secrets: secrets.filter((secret: { name?: string }) => !secret.name?.startsWith(generated)) };
  },
};

const interpreters = new Map(knownKinds.map((known) => [`${known.group}/${known.kind}`, known]));

/** The template as propagated to members, before division. */
export function prune(template: Manifest): Manifest {
  const { status: _status, ...manifest } = template;
  const metadata = Object.fromEntries(Object.entries(template.metadata).filter(([field]) => !SERVER_SET.has(field)));
  const bare = { ...manifest, metadata } as unknown as Manifest;
  const key = keyOf(template);
  return Object.hasOwn(byKind, key) ? (byKind[key]?.(bare) ?? bare) : bare;
}

/** The TTL fields of kinds that run to completion. */
const TIMES_TO_LIVE: Readonly<Record<string, readonly string[]>> = {
  "argoproj.io/Workflow": ["spec", "ttlStrategy"],
  "batch/Job": ["spec", "ttlSecondsAfterFinished"],
};

/** A member must not garbage-collect a finished object: it would be created, and run, again. */
export function withoutTimeToLive(manifest: Manifest): Manifest {
  const key = keyOf(manifest);
  const path =
    interpreters.get(key)?.timeToLive ?? (Object.hasOwn(TIMES_TO_LIVE, key) ? TIMES_TO_LIVE[key] : undefined);
  return path ? (withoutPath(manifest, path) as Manifest) : manifest;
}

function withoutPath(fields: Fields, [name = "", ...rest]: readonly string[]): Fields {
  if (!Object.hasOwn(fields, name)) return fields;
  if (rest.length === 0) return without(fields, [name]);
  const inner = fields[name];
  if (!isObject(inner)) return fields;
  const pruned = withoutPath(inner, rest);
  return pruned === inner ? fields : { ...fields, [name]: pruned };
}

const keyOf = ({ apiVersion, kind }: Manifest): string => `${parseApiVersion(apiVersion).group}/${kind}`;

/** Each member generates the selector and labels unless the user set them. */
function pruneJob(manifest: Manifest): Manifest {
  const { spec } = manifest;
  if (!isObject(spec) || spec["manualSelector"] === true) return manifest;
  const { selector, template } = spec;
  const next: Record<string, unknown> = { ...spec };
  if (isObject(selector) && isObject(selector["matchLabels"]))
    next["selector"] = { ...selector, matchLabels: without(selector["matchLabels"], JOB_SELECTOR_LABELS) };
  if (isObject(template) && isObject(template["metadata"]) && isObject(template["metadata"]["labels"])) {
    next["template"] = {
      ...template,
      metadata: { ...template["metadata"], labels: without(template["metadata"]["labels"], JOB_POD_LABELS) },
    };
  }
  return { ...manifest, spec: next };
}

function withoutAnnotations(manifest: Manifest, names: readonly string[]): Manifest {
  const { annotations } = manifest.metadata;
  if (!annotations || !names.some((name) => name in annotations)) return manifest;
  return {
    ...manifest,
    metadata: { ...manifest.metadata, annotations: without(annotations, names) as Record<string, string> },
  };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
