/** Reads one object across the fleet: on the hub, its binding, on members, and its events. */
import { named, nowhere } from "./outcome.ts";
import { HUB, isForbidden } from "@flotilla/apimachinery";
import { bindingName, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import { didYouMean, FlotillaError, UsageError } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { copiesOf } from "@flotilla/flotilla";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import { askEach, failureLine } from "./each-place.ts";
import type { Failure } from "./each-place.ts";
import { newestEvents, readEvents } from "./events.ts";
import type { SeenEvent } from "./events.ts";
import { findPlaces, hubPlace } from "./members-places.ts";
import type { Place } from "./members-places.ts";
import { readNamesake } from "./read-objects.ts";
import { knownNames } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";

export interface Description {
  resource: { apiVersion: string; kind: string; namespace?: string; name: string };
  /** Unset when the hub does not have the object, or was not queried. */
  hub?: JsonObject;
  binding?: DescribedBinding;
  members: { cluster: string; object: JsonObject }[];
  /** Members that responded and do not have it. */
  without: string[];
  /** What the pods of a workload that is not healthy report on the members (`readCauses`), most important first. */
  problems?: readonly string[];
  /** Oldest first. */
  events: SeenEvent[];
  /** Members that did not respond. */
  failures: { cluster: string; reason: string }[];
  /** What else could not be read, with the reason. */
  notChecked: string[];
}

export interface DescribedBinding {
  name: string;
  conditions: {
    type: string;
    status: string;
    reason?: string;
    message?: string;
    lastTransitionTime?: string | undefined;
  }[];
  clusters: { cluster: string; replicas?: number; applied?: boolean; health?: string; message?: string }[];
}

/** For the whole fleet; describing one member shows more. */
const MAX_EVENTS = 30;
const MAX_FAILURES = 3;

interface DescribeQuestion {
  word: string;
  name: string;
  namespace: string;
  /** Read only these members, and not the hub. */
  clusters: readonly string[];
}

interface Copy {
  type: ServedType;
  object?: JsonObject;
  events: SeenEvent[];
}

export async function readDescription(
  asking: Asking,
  client: Client,
  { word, name, namespace, clusters }: DescribeQuestion,
): Promise<Description> {
  const notChecked = new Set<string>();
  const members = await placesOf(client, clusters, asking.signal);
  if (!members) notChecked.add(`the members: ${NO_MEMBERS}`);
  const places = [...(clusters.length > 0 ? [] : [hubPlace]), ...(members ?? [])];
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const { answers, failures } = await askEach(places, asking.signal, (place) =>
    readCopy({ asking, discovery, notChecked }, place, word, { namespace, name }),
  );
  const copies = answers.flatMap(({ place, answer }) => (answer ? [{ place, ...answer }] : []));
  const type = copies.find(({ object }) => object)?.type ?? copies[0]?.type;
  if (answers.length === 0)
    throw new FlotillaError(
      "NoAnswer",
      `no cluster responded: ${failures.map(failureLine).slice(0, MAX_FAILURES).join("; ")}`,
    );
  if (!type)
    throw unknownType(
      word,
      answers.map(({ place }) => place.name),
      failures,
      discovery,
    );
  const place = type.scope === "Namespaced" ? { namespace } : {};
  const found = copies.filter((copy): copy is typeof copy & { object: JsonObject } => copy.object !== undefined);
  if (found.length === 0)
    throw nowhere(
      `${type.kind} ${name}`,
      place.namespace === undefined ? "" : ` in namespace ${place.namespace}`,
      places,
      failures,
    );
  const binding =
    clusters.length > 0 ? undefined : await readBinding(client, type.kind, { ...place, name }, asking.signal);
  if (binding === "forbidden") notChecked.add("its binding: you are not allowed to read it");
  const known = binding === "forbidden" ? undefined : binding;
  const ofBinding = known
    ? await eventsOf({ asking, notChecked }, hubPlace, { kind: known.kind, ...place, name: known.metadata.name })
    : [];
  const hub = found.find((copy) => copy.place.mode === "hub")?.object;
  return {
    resource: {
      apiVersion: type.group ? `${type.group}/${type.version}` : type.version,
      kind: type.kind,
      ...place,
      name,
    },
    hub,
    binding: known ? describedBinding(known) : undefined,
    members: found
      .filter((copy) => copy.place.mode !== "hub")
      .map((copy) => ({ cluster: copy.place.name, object: copy.object })),
    without: copies
      .filter((copy) => copy.object === undefined && copy.place.mode !== "hub")
      .map((copy) => copy.place.name),
    events: newestEvents([...copies.flatMap((copy) => copy.events), ...ofBinding], MAX_EVENTS),
    failures: failures.map((failure) => ({ cluster: failure.place.name, reason: failure.reason })),
    notChecked: [...notChecked].toSorted(),
  };
}

const NO_MEMBERS = "you are not allowed to list them; name those that you may access with --clusters";

/** Undefined for a user who may not list the members: the hub's part is described. */
async function placesOf(
  client: Client,
  clusters: readonly string[],
  signal: AbortSignal,
): Promise<Place[] | undefined> {
  try {
    return await findPlaces(client, clusters, signal);
  } catch (error) {
    if (clusters.length === 0 && error instanceof FlotillaError && error.code === "Forbidden") return undefined;
    throw error;
  }
}

interface Reading {
  asking: Asking;
  notChecked: Set<string>;
}

/** Undefined where the type is not served. */
async function readCopy(
  { asking, discovery, notChecked }: Reading & { discovery: Discovery },
  place: Place,
  word: string,
  { namespace, name }: { namespace: string; name: string },
): Promise<Copy | undefined> {
  const copy = await readNamesake(asking, place, await discovery.namesakesAt(place, word), { namespace, name });
  if (!copy) return undefined;
  const { type, object } = copy;
  return {
    type,
    object,
    events: object
      ? await eventsOf({ asking, notChecked }, place, {
          kind: type.kind,
          namespace: type.scope === "Namespaced" ? namespace : undefined,
          name,
        })
      : [],
  };
}

/** A user who may not read events still gets everything else. */
async function eventsOf(
  { asking, notChecked }: Reading,
  place: Place,
  about: { kind: string; namespace?: string; name: string },
): Promise<SeenEvent[]> {
  try {
    return await readEvents(asking, place, about);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    notChecked.add(`the events on ${place.name}: you are not allowed to list them`);
    return [];
  }
}

async function readBinding(
  client: Client,
  kind: string,
  { namespace, name }: { namespace?: string; name: string },
  signal: AbortSignal,
): Promise<DeepReadonly<ResourceBinding> | "forbidden" | undefined> {
  const bindings =
    namespace === undefined ? (ClusterResourceBinding as unknown as Kind<ResourceBinding>) : ResourceBinding;
  try {
    return await find(client, bindings, { cluster: HUB, namespace, name: bindingName(kind, name) }, { signal });
  } catch (error) {
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}

function describedBinding({ metadata, spec, status }: DeepReadonly<ResourceBinding>): DescribedBinding {
  const items = new Map((status?.aggregatedStatus ?? []).map((item) => [item.clusterName, item]));
  const reported = (cluster: string) => {
    const { applied, health, appliedMessage: message } = items.get(cluster) ?? {};
    return { applied, health, message: message || undefined };
  };
  const targets = copiesOf(spec).map(({ name, replicas }) => ({ cluster: name, replicas, ...reported(name) }));
  const leaving = [...items.keys()]
    .filter((name) => !targets.some(({ cluster }) => cluster === name))
    .map((cluster) => ({ cluster, ...reported(cluster) }));
  return {
    name: metadata.name,
    conditions: (status?.conditions ?? []).map(({ type, status: value, reason, message, lastTransitionTime }) => ({
      type,
      status: value,
      reason,
      message,
      lastTransitionTime,
    })),
    clusters: [...targets, ...leaving],
  };
}

function unknownType(
  word: string,
  answered: readonly string[],
  failures: readonly Failure[],
  discovery: Discovery,
): Error {
  const hint = didYouMean(word, knownNames(discovery.known()));
  if (failures.length > 0)
    return new FlotillaError(
      "NotFound",
      `no cluster that responded serves the resource type '${word}'${hint}; no response from ` +
        `${named(failures.map(({ place }) => place.name))}: ${failures[0]?.reason ?? ""}`,
    );
  return new UsageError(
    `${named(answered)} ${answered.length === 1 ? "does" : "do"} not serve the resource type '${word}'${hint}`,
  );
}
