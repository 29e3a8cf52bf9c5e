/** Finds the pods of a command line: by name, by labels, or those of a workload, on all members that have them. */
import { DEFAULT_CONTAINER_ANNOTATION } from "@flotilla/kubernetes";
import { didYouMean, isObject, UsageError, textOf, textsOf, objectOf, objectsOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Asking } from "./ask.ts";
import type { Discovery } from "./discovery.ts";
import { askEach } from "./each-place.ts";
import type { Failure } from "./each-place.ts";
import { scalarText } from "./json-parts.ts";
import type { Place } from "./members-places.ts";
import { objectsIn, readList, readNamesake, readOneObject } from "./read-objects.ts";
import { knownNames } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";
import { named } from "./outcome.ts";

export interface FoundPod {
  place: Place;
  namespace: string;
  name: string;
  containers: readonly string[];
  initContainers: readonly string[];
  /** The container used when none is named. */
  defaultContainer: string;
  isRunning: boolean;
}

export interface FoundPods {
  /** Sorted by cluster, then by name. */
  pods: FoundPod[];
  failures: Failure[];
  /** The named object, `deployment/web`, exists on a member that responded. True without such a name. */
  hasOwner: boolean;
}

export interface PodSelection {
  /** `web-1`, or `deployment/web`; unset with a selector. */
  named?: string;
  labelSelector?: string;
  namespace: string;
}

const PODS: ServedType = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  scope: "Namespaced",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  verbs: ["get", "list"],
};
/** More pods are never intended. */
const MAX_PODS = 10_000;

/** Throws `UsageError` when nothing is found, unless a member did not respond. */
export async function findPods(
  asking: Asking,
  discovery: Discovery,
  places: readonly Place[],
  selection: PodSelection,
): Promise<FoundPods> {
  const unserved = new Set<string>();
  let hasOwner = !selection.named?.includes("/");
  const { answers, failures } = await askEach(places, asking.signal, async (place) => {
    const { named: what, namespace, labelSelector } = selection;
    if (what === undefined) return podsBy(asking, place, namespace, labelSelector);
    const slash = what.indexOf("/");
    if (slash < 0) return podNamed(asking, place, namespace, what);
    const types = await discovery.namesakesAt(place, what.slice(0, slash));
    const name = what.slice(slash + 1);
    const owner = await readNamesake(asking, place, types, { namespace, name });
    if (!owner) unserved.add(place.name);
    if (owner?.object) hasOwner = true;
    return owner ? podsOf(asking, place, owner.type, namespace, name) : [];
  });
  const word = selection.named?.split("/")[0] ?? "";
  if (unserved.size > 0 && unserved.size === places.length)
    throw new UsageError(
      `${named([...unserved])} ${unserved.size === 1 ? "does" : "do"} not serve the resource type '${word}'${didYouMean(word, knownNames(discovery.known()))}`,
    );
  const pods = answers
    .flatMap(({ place, answer }) => answer.map((pod) => foundPod(place, pod)))
    .filter(({ name }) => name !== "");
  return { pods, failures, hasOwner };
}

async function podNamed(asking: Asking, place: Place, namespace: string, name: string): Promise<JsonObject[]> {
  const pod = await readOneObject(asking, place, PODS, namespace, name);
  return pod ? [pod] : [];
}

async function podsBy(
  asking: Asking,
  place: Place,
  namespace: string | undefined,
  labelSelector: string | undefined,
): Promise<JsonObject[]> {
  const pods = objectsIn(
    await readList(asking, place, PODS, { namespace, labelSelector, accept: "application/json" }, { left: MAX_PODS }),
  );
  return pods.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** The pods of a workload on one member, or the pod itself. */
async function podsOf(
  asking: Asking,
  place: Place,
  type: ServedType,
  namespace: string | undefined,
  name: string,
): Promise<JsonObject[]> {
  const owner = await readOneObject(asking, place, type, namespace, name);
  return owner ? podsBelow(asking, place, type, owner) : [];
}

/** The pods of an object that was read, or the pod itself. */
export async function podsBelow(
  asking: Asking,
  place: Place,
  type: ServedType,
  owner: JsonObject,
): Promise<JsonObject[]> {
  if (type.group === "" && type.kind === "Pod") return [owner];
  return podsOwnedBy(asking, place, owner, textOf(objectOf(owner["metadata"])["namespace"]) || undefined);
}

export async function podsOwnedBy(
  asking: Asking,
  place: Place,
  owner: JsonObject,
  namespace: string | undefined,
): Promise<JsonObject[]> {
  const selector = selectorOf(owner);
  if (selector !== undefined) return podsBy(asking, place, namespace, selector);
  // Without a selector, its pods are found by their owner reference.
  const uid = textOf(objectOf(owner["metadata"])["uid"]);
  return (await podsBy(asking, place, namespace, undefined)).filter((pod) => isOwnedBy(pod, uid));
}

export const isOwnedBy = (object: JsonObject, uid: string): boolean => ownersOf(object).includes(uid);

/**
 * The selector of a workload, a Service or another object that selects pods, as a query parameter; undefined if it has
 * none.
 */
export function selectorOf({ spec, status }: JsonObject): string | undefined {
  const selector = objectOf(spec)["selector"];
  if (typeof selector === "string" && selector !== "") return selector;
  if (isObject(selector)) {
    const isStructured = isObject(selector["matchLabels"]) || Array.isArray(selector["matchExpressions"]);
    const labels = isStructured ? objectOf(selector["matchLabels"]) : selector;
    const parts = [
      ...Object.entries(labels).map(([key, value]) => `${key}=${scalarText(value)}`),
      ...(isStructured ? expressionsOf(selector["matchExpressions"]) : []),
    ];
    if (parts.length > 0) return parts.join(",");
  }
  return textOf(objectOf(status)["labelSelector"]) || undefined;
}

function expressionsOf(expressions: Json | undefined): string[] {
  return objectsOf(expressions).map(({ key, operator, values }) => {
    const list = textsOf(values).join(",");
    if (operator === "In") return `${textOf(key)} in (${list})`;
    if (operator === "NotIn") return `${textOf(key)} notin (${list})`;
    return operator === "DoesNotExist" ? `!${textOf(key)}` : textOf(key);
  });
}

function foundPod(place: Place, pod: JsonObject): FoundPod {
  const metadata = objectOf(pod["metadata"]);
  const spec = objectOf(pod["spec"]);
  const containers = containersIn(spec["containers"]);
  const preferred = textOf(objectOf(metadata["annotations"])[DEFAULT_CONTAINER_ANNOTATION]);
  return {
    place,
    namespace: textOf(metadata["namespace"]),
    name: nameOf(pod),
    containers,
    initContainers: containersIn(spec["initContainers"]),
    defaultContainer: containers.includes(preferred) ? preferred : (containers[0] ?? ""),
    isRunning: objectOf(pod["status"])["phase"] === "Running",
  };
}

const nameOf = ({ metadata }: JsonObject): string => textOf(objectOf(metadata)["name"]);
const containersIn = (value: Json | undefined): string[] => objectsOf(value).map(({ name }) => textOf(name));
const ownersOf = ({ metadata }: JsonObject): string[] =>
  objectsOf(objectOf(metadata)["ownerReferences"]).map(({ uid }) => textOf(uid));
