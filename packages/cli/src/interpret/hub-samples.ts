/** Real objects of the kinds of customizations: those of a hub, and their copies on members. */
import { HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import type { Clock, JsonObject } from "@flotilla/base";
import { createKindResolver, eachObject, find, resourcePath, UnknownKindError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { bindingName, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { StatusItem } from "@flotilla/kubernetes";
import { ask } from "../members/ask.ts";
import { askEach, failureLine } from "../members/each-place.ts";
import { createDiscovery, typeOfManifest } from "../members/discovery.ts";
import { findPlaces } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import type { Sample } from "./try-rules.ts";

/** Objects of one kind are alike: a few of them show a rule that fails. */
const MAX_OBJECTS = 10;
const MAX_MEMBERS = 3;
const TIMEOUT_MS = 3_000;

interface SampleQuestion {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}

export interface HubSamples {
  samples: Sample[];
  /** What could not be read, or does not exist. */
  missing: string[];
}

export async function readHubSamples(targets: readonly Target[], question: SampleQuestion): Promise<HubSamples> {
  const found: HubSamples = { samples: [], missing: [] };
  const unique = new Map(targets.map((target) => [`${target.apiVersion} ${target.kind}`, target]));
  const readCopies = createCopyReader(question);
  for (const target of unique.values()) await readKind(target, question, readCopies, found);
  found.missing = [...new Set(found.missing)];
  return found;
}

interface Target {
  apiVersion: string;
  kind: string;
}

async function readKind(
  target: Target,
  { client, signal }: SampleQuestion,
  readCopies: ReadCopies,
  { samples, missing }: HubSamples,
): Promise<void> {
  const what = `${target.kind} in ${target.apiVersion}`;
  let kind;
  try {
    kind = await createKindResolver({ client, cluster: HUB }).resolve(target);
  } catch (error) {
    if (!(error instanceof UnknownKindError)) throw error;
    missing.push(`the hub does not serve ${what}`);
    return;
  }
  let count = 0;
  for await (const object of eachObject(client, kind, { cluster: HUB, signal })) {
    count += 1;
    if (count > MAX_OBJECTS) {
      missing.push(`further objects of ${what}: only ${MAX_OBJECTS} are read`);
      break;
    }
    const { namespace, name } = object.metadata;
    const title = `${target.kind} ${namespace ? `${namespace}/` : ""}${name}`;
    const desired = object as unknown as JsonObject;
    const reported = await readReported(client, { kind: target.kind, namespace: namespace || undefined, name }, signal);
    if (!reported) missing.push(`copies of ${what}: you are not allowed to read bindings`);
    samples.push({
      title: `${title} of the hub`,
      desired,
      statusItems: reported && reported.length > 0 ? reported : undefined,
    });
    const clusters = new Set(reported?.slice(0, MAX_MEMBERS).map(({ clusterName }) => clusterName));
    const { copies, failures } = await readCopies(clusters, { ...target, namespace: namespace || undefined, name });
    missing.push(...failures);
    for (const { cluster, observed } of copies) samples.push({ title: `${title} on ${cluster}`, desired, observed });
  }
  if (count === 0) missing.push(`the hub has no ${what}`);
}

/** What the members report, as the binding has it; undefined if the binding may not be read. */
async function readReported(
  client: Client,
  { kind, namespace, name }: { kind: string; namespace: string | undefined; name: string },
  signal: AbortSignal,
): Promise<readonly StatusItem[] | undefined> {
  const bindingKind = namespace ? ResourceBinding : (ClusterResourceBinding as unknown as Kind<ResourceBinding>);
  const key = { cluster: HUB, namespace, name: bindingName(kind, name) };
  try {
    const binding = await find(client, bindingKind, key, { signal });
    return (binding?.status?.aggregatedStatus ?? []) as readonly StatusItem[];
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

type ReadCopies = (
  clusters: ReadonlySet<string>,
  object: Target & { namespace: string | undefined; name: string },
) => Promise<{ copies: { cluster: string; observed: JsonObject }[]; failures: string[] }>;

/** Lists the members once, when the first copy is read. */
function createCopyReader({ client, clock, signal }: SampleQuestion): ReadCopies {
  const asking = { client, clock, responseTimeoutMs: TIMEOUT_MS, signal };
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  let members: Promise<Place[]> | undefined;
  return async (clusters, { namespace, name, ...target }) => {
    if (clusters.size === 0) return { copies: [], failures: [] };
    members ??= findPlaces(client, [], signal);
    const places = (await members).filter((place) => clusters.has(place.name));
    const { answers, failures } = await askEach(places, signal, async (place) => {
      const type = await typeOfManifest(discovery, place, target);
      if (!type) return undefined;
      const { group, version, plural: resource } = type;
      try {
        return await ask(asking, place, resourcePath({ cluster: HUB, group, version, resource, namespace, name }));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
    return {
      copies: answers.flatMap(({ place, answer }) => (answer ? [{ cluster: place.name, observed: answer }] : [])),
      failures: failures.map(failureLine),
    };
  };
}
