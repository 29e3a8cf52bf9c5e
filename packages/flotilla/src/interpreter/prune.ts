/**
 * Prunes a template before propagation: server-set metadata, status, and fields that a member allocates or generates
 * itself. Rules match group and kind, so a third-party `Job` is not changed.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { parseApiVersion } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
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
/** Interpreters of the kinds with rules for pruning, by group and kind. */
const interpreters = new Map(knownKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind]));

/** The template as propagated to members, before division. */
export function prune(template: Manifest): Manifest {
  const { status: _status, ...manifest } = template;
  const metadata = Object.fromEntries(Object.entries(template.metadata).filter(([field]) => !SERVER_SET.has(field)));
  const bare = { ...manifest, metadata } as unknown as Manifest;
  return (interpreters.get(keyOf(template))?.prune?.(bare) as Manifest | undefined) ?? bare;
}

/** A member must not garbage-collect a finished object: it would be created, and run, again. See `TimeToLive`. */
export function withoutTimeToLive(manifest: Manifest): Manifest {
  const path = interpreters.get(keyOf(manifest))?.timeToLive?.path;
  return path ? (withoutPath(manifest, path) as Manifest) : manifest;
}

function withoutPath(fields: Fields, [name = "", ...rest]: readonly string[]): Fields {
  if (!Object.hasOwn(fields, name)) return fields;
  if (rest.length === 0) return without(fields, name);
  const inner = fields[name];
  if (!isObject(inner)) return fields;
  const pruned = withoutPath(inner, rest);
  return pruned === inner ? fields : { ...fields, [name]: pruned };
}

const keyOf = ({ apiVersion, kind }: Manifest): string => `${parseApiVersion(apiVersion).group}/${kind}`;

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
}
