/**
 * Compares a plan with what an apply does to the members' own objects, value by value: the plan's fields are set in the
 * object before (of a new copy: in its template), and the result must be the member's object.
 */
import { isNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { copy, equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { createKindResolver, find, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { compareFields, isBookkeeping } from "@flotilla/flotilla";
import type { FieldChange } from "@flotilla/flotilla";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";

type Object = DeepReadonly<KubernetesObject>;
type Change = PlanResult["changes"][number];

/** What users write of objects, by member, kind, namespace and name. */
export type Objects = ReadonlyMap<string, JsonObject>;

interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

export const titleOf = (cluster: string, { kind, namespace, name }: Change["object"]): string =>
  `${cluster} ${kind} ${namespace ? `${namespace}/` : ""}${name}`;

/** The objects of these kinds that `isOwn` matches, without what the members' own controllers created. */
export async function readObjects(
  client: Client,
  members: readonly string[],
  kinds: readonly KindRef[],
  isOwn: (object: Object) => boolean,
): Promise<Objects> {
  const objects = new Map<string, JsonObject>();
  for (const cluster of members) {
    const resolver = createKindResolver({ client, cluster });
    for (const ref of kinds)
      for (const object of await listed(resolver, ref, client, cluster)) {
        const { namespace, name, ownerReferences } = object.metadata;
        if (!isOwn(object) || ownerReferences?.some(({ controller }) => controller)) continue;
        objects.set(titleOf(cluster, { ...ref, namespace, name }), contentOf(object));
      }
  }
  return objects;
}

async function listed(kinds: KindResolver, ref: KindRef, client: Client, cluster: string): Promise<readonly Object[]> {
  try {
    return (await client.list(await kinds.resolve(ref), { cluster })).items;
  } catch (error) {
    if (error instanceof UnknownKindError || isNotFound(error)) return []; // Its CRD is not there yet.
    throw error;
  }
}

function contentOf(object: Object): JsonObject {
  const { apiVersion: _version, kind: _kind, status: _status, metadata, ...content } = object as Object & JsonObject;
  const { labels = {}, annotations = {} } = metadata;
  return { ...withoutNodePorts(content), metadata: { labels: { ...labels }, annotations: { ...annotations } } };
}

/** Each server allocates its own. */
function withoutNodePorts<T extends Json | undefined>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNodePorts) as unknown as T;
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([key]) => key !== "nodePort");
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutNodePorts(each)])) as T;
}

type Action = Change["action"];

/** What happened to each object that is not as it was. */
export function changesSeen(before: Objects, after: Objects): Map<string, Action> {
  const seen = new Map<string, Action>();
  for (const title of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(title), after.get(title)];
    if (!old || !next) seen.set(title, next ? "create" : "delete");
    else if (compareFields(old, next, isOfMember).fields.length > 0) seen.set(title, "update");
  }
  return seen;
}

const WRITTEN_FOR_EACH_OTHER = new RegExp(
  "^metadata\\.annotations\\[(flotilla\\.dev\\/applied-digest|work\\.karmada\\.io\\/conflict-resolution|deployment\\.kubernetes\\.io|resourcetemplate|" +
    "kubectl\\.|pv\\.kubernetes\\.io|volume\\.)",
);

/** What the hub and the members' controllers write for each other. */
const isOfMember = (path: string): boolean =>
  isBookkeeping(path) || WRITTEN_FOR_EACH_OTHER.test(path) || path === "spec.volumeName";

/** What a server sets in new objects of these kinds. */
const SERVER_SET: Readonly<Record<string, RegExp>> = {
  Service: /^spec\.(clusterIPs?|ipFamilies|ipFamilyPolicy)$/,
  Job: /^spec\.(selector|template\.metadata)\b/,
  PersistentVolumeClaim: /^spec\.storageClassName$/,
  Namespace: /^(spec|metadata\.labels)\b/,
};

export interface Comparison {
  client: Client;
  before: Objects;
  after: Objects;
  seen: ReadonlyMap<string, Action>;
  /** What the plan itself says it does not know: the fields of these objects are not compared. */
  isUncertain?(title: string): boolean;
}

/** Planned changes that did not come, changes that were not planned, and values that are not the planned ones. */
export async function mismatches(
  { changes }: Pick<PlanResult, "changes">,
  { client, before, after, seen, isUncertain = () => false }: Comparison,
): Promise<string[]> {
  const planned = new Map(changes.map((change) => [titleOf(change.cluster, change.object), change] as const));
  const wrong: string[] = [];
  for (const title of new Set([...planned.keys(), ...seen.keys()])) {
    if (title.includes(" CustomResourceDefinition ")) continue;
    const [change, action] = [planned.get(title), seen.get(title)];
    const [old, next] = [before.get(title), after.get(title)];
    if (isUncertain(title)) continue;
    if (change?.action !== action)
      wrong.push(
        `${title}: ${change?.action ?? "nothing"} was planned, and ${action ?? "nothing"} came${
          action === "update" ? `: ${shown(compareFields(old, next, isOfMember).fields)}` : ""
        }`,
      );
    else if (change?.action === "update") wrong.push(...wrongUpdate(change, old ?? {}, next ?? {}));
    else if (change?.action === "create") wrong.push(...(await wrongCopy(client, change, next ?? {})));
  }
  return wrong;
}

function wrongUpdate({ cluster, object, fields, more }: Change, old: JsonObject, next: JsonObject): string[] {
  const title = titleOf(cluster, object);
  if (more !== undefined) return [];
  const expected = copy(old);
  const wrong: string[] = [];
  for (const { path, before, after } of fields) {
    const had = valueAt(expected, path);
    if (!equalJson(had ?? null, withoutNodePorts(before) ?? null))
      wrong.push(`${title}: ${path} was planned from ${JSON.stringify(before)}, and was ${JSON.stringify(had)}`);
    setValue(expected, path, withoutNodePorts(after));
  }
  const { fields: others } = compareFields(expected, next, isOfMember);
  if (others.length > 0) wrong.push(`${title}: planned → came: ${shown(others)}`);
  return wrong;
}

/** The template on the hub with the planned differences is the copy. */
async function wrongCopy(
  client: Client,
  { cluster, object, fields, more }: Change,
  next: JsonObject,
): Promise<string[]> {
  const title = titleOf(cluster, object);
  const kind = await createKindResolver({ client, cluster: "hub" }).resolve(object);
  const { namespace, name } = object;
  const template = await find(client, kind, { cluster: "hub", namespace, name });
  if (!template || more !== undefined) return [];
  const expected = copy(contentOf(template));
  for (const { path, after } of fields) setValue(expected, path, withoutNodePorts(after));
  const isOwn = (path: string): boolean => isOfMember(path) || (SERVER_SET[object.kind]?.test(path) ?? false);
  const { fields: others } = compareFields(expected, next, isOwn);
  return others.length > 0 ? [`${title}: planned → came: ${shown(others)}`] : [];
}

const shown = (fields: readonly FieldChange[]): string =>
  fields.map(({ path, before, after }) => `${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`).join("; ");

/** `spec.containers[web].image` → `spec`, `containers`, `[web]`, `image`; `[web]` is a key, or the name of an item. */
const partsOf = (path: string): string[] => path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];

function valueAt(object: Json, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of partsOf(path)) value = value === undefined ? undefined : childOf(value, part);
  return value;
}

function childOf(value: Json, part: string): Json | undefined {
  const key = nameOf(part);
  if (Array.isArray(value)) return value.find((item) => isObject(item) && item["name"] === key);
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function setValue(object: JsonObject, path: string, value: Json | undefined): void {
  const parts = partsOf(path);
  const last = parts.pop() ?? "";
  let parent: Json = object;
  for (const part of parts) {
    let child: Json | undefined = childOf(parent, part);
    if (child === undefined) {
      child = {};
      if (isObject(parent)) parent[nameOf(part)] = child;
    }
    parent = child;
  }
  const key = nameOf(last);
  if (Array.isArray(parent)) {
    const index = parent.findIndex((item) => isObject(item) && item["name"] === key);
    if (value === undefined) parent.splice(index, 1);
    else if (index < 0) parent.push(value);
    else parent[index] = value;
  } else if (isObject(parent)) {
    if (value === undefined) delete parent[key];
    else parent[key] = value;
  }
}

const nameOf = (part: string): string => (part.startsWith("[") ? part.slice(1, -1) : part);
