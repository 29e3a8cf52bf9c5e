/**
 * Waits until members have what was applied to the hub and are healthy with it: what each member has is read there, and
 * what cannot be read is taken from the hub's reports.
 */
import {
  bindingName,
  ClusterResourceBinding,
  gvkOf,
  ManifestWork,
  ManifestWorkReplicaSet,
  ResourceBinding,
} from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import { FlotillaError, sleep } from "../../base/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { createKindResolver, find } from "../../client/index.ts";
import type { Client, KindResolver } from "../../client/index.ts";
import { TEMPLATE_GENERATION } from "../../interpreter/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import { findCondition } from "../../machinery/index.ts";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import { askEach } from "./each-place.ts";
import type { Failure } from "./each-place.ts";
import { objectOf, textOf } from "./json-parts.ts";
import { findPlaces } from "./places.ts";
import type { Place } from "./places.ts";
import { readOneObject } from "./read-objects.ts";

type Template = DeepReadonly<KubernetesObject>;

export interface WaitTools {
  asking: Asking;
  client: Client;
  interpreter: Pick<Interpreter, "health">;
  timeoutMs: number;
  /** Told of each cluster once, when it is through. */
  onDone(resource: string, cluster: string): void;
  progress(text: string): void;
}

/** How far one cluster is; no reason when it is through. */
export interface Stand {
  cluster: string;
  reason?: string;
}

const LOOK_MS = 500;
const MAX_TOLD = 5;

/** Throws when time is up, with what is missing. */
export async function waitUntilApplied(resources: readonly Template[], tools: WaitTools): Promise<void> {
  const { asking, timeoutMs, progress, onDone } = tools;
  const untilMs = asking.clock.now() + timeoutMs;
  const kinds = createKindResolver({ client: tools.client, cluster: "hub" });
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const done = new Set<string>();
  for (;;) {
    const waiting: string[] = [];
    for (const resource of resources) {
      const title = titleOf(resource);
      if (done.has(title)) continue;
      const stands = await standsOf(resource, tools, kinds, discovery);
      for (const { cluster, reason } of stands) {
        if (reason !== undefined) waiting.push(`${title} on ${cluster}: ${reason}`);
        else if (!done.has(`${title} ${cluster}`)) {
          done.add(`${title} ${cluster}`);
          onDone(title, cluster);
        }
      }
      if (stands.every(({ reason }) => reason === undefined)) done.add(title);
    }
    if (waiting.length === 0) return;
    if (asking.clock.now() >= untilMs) {
      const more = waiting.length > MAX_TOLD ? `; and ${waiting.length - MAX_TOLD} more` : "";
      throw new FlotillaError(
        "NotReady",
        `applied, but after ${timeoutMs / 1000} s not everything is well: ${waiting.slice(0, MAX_TOLD).join("; ")}${more}. The hub goes on; 'flotilla why' says more`,
      );
    }
    progress(`waiting for ${waiting.length === 1 ? waiting[0] : `${waiting.length} copies, ${waiting[0]}`}`);
    await sleep(asking.clock, LOOK_MS, asking.signal);
  }
}

const titleOf = ({ kind, metadata: { namespace, name } }: Template): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

const isOf = ({ group, kind }: Kind, object: Template): boolean =>
  object.kind === kind && gvkOf(object).group === group;

/**
 * Whether something can be waited for: kinds of Open Cluster Management that bring objects to members. Templates are
 * known from the plan.
 */
export const isCarrier = (object: Template): boolean =>
  isOf(ManifestWork, object) || isOf(ManifestWorkReplicaSet, object);

async function standsOf(
  resource: Template,
  tools: WaitTools,
  kinds: KindResolver,
  discovery: Discovery,
): Promise<Stand[]> {
  const { client, asking } = tools;
  const kind = await kinds.resolve(resource);
  const { namespace, name } = resource.metadata;
  const object = await find(
    client,
    kind,
    { cluster: "hub", namespace: namespace || undefined, name },
    { signal: asking.signal },
  );
  if (!object) return [{ cluster: "hub", reason: "it was deleted meanwhile" }];
  if (isCarrier(resource))
    return [{ cluster: isOf(ManifestWork, resource) ? (namespace ?? "") : "its clusters", ...carrierReason(object) }];
  return templateStands(object, tools, discovery);
}

/** Conditions of this generation, all true. */
function carrierReason(object: Template): { reason?: string } {
  const { conditions = [] } =
    (
      object as {
        status?: {
          conditions?: {
            type: string;
            status: string;
            reason?: string;
            message?: string;
            observedGeneration?: number;
          }[];
        };
      }
    ).status ?? {};
  const wanted = isOf(ManifestWork, object)
    ? ["Applied", "Available"]
    : ["PlacementVerified", "PlacementRolledOut", "ManifestworkApplied"];
  for (const type of wanted) {
    const condition = findCondition(conditions, type);
    if (condition?.status !== "True" || (condition.observedGeneration ?? 0) < (object.metadata.generation ?? 0))
      return {
        reason:
          condition?.status === "True"
            ? "it is told of an older version"
            : condition?.message || `${type} is not known yet`,
      };
  }
  return {};
}

async function templateStands(template: Template, tools: WaitTools, discovery: Discovery): Promise<Stand[]> {
  const { client, asking, interpreter } = tools;
  const { namespace, name } = template.metadata;
  const bindings = namespace ? ResourceBinding : (ClusterResourceBinding as unknown as Kind<ResourceBinding>);
  const binding = await find(
    client,
    bindings,
    { cluster: "hub", namespace: namespace || undefined, name: bindingName(template.kind, name) },
    { signal: asking.signal },
  );
  const targets = binding?.spec.clusters ?? [];
  if (!binding || targets.length === 0 || binding.status?.schedulerObservedGeneration !== binding.metadata.generation) {
    return [
      {
        cluster: "hub",
        reason: findCondition(binding?.status?.conditions, "Scheduled")?.message || "it is not scheduled yet",
      },
    ];
  }
  const places = await findPlaces(
    client,
    targets.map((target) => target.name),
    asking.signal,
  );
  const { answers, failures } = await askEach(places, asking.signal, (place) =>
    memberReason(template, place, tools, discovery),
  );
  const stands: Stand[] = [
    ...answers.map(({ place, answer }) => ({ cluster: place.name, ...answer })),
    ...failures.map((failure) => unseenStand(template, binding, failure)),
  ];
  if (stands.some(({ reason }) => reason !== undefined)) return stands;
  // A release over the fleet goes on in steps, and every step looks well on its members.
  return (await interpreter.health(template)) === "Healthy"
    ? stands
    : [...stands, { cluster: "hub", reason: "its members are well, and the hub's summary of them is not there yet" }];
}

/** What the member itself has. */
async function memberReason(
  template: Template,
  place: Place,
  { asking, interpreter }: WaitTools,
  discovery: Discovery,
): Promise<{ reason?: string }> {
  const { group } = gvkOf(template);
  // In whatever version the member prefers: it may be older or newer than the hub.
  const [type] = await discovery.typesAt(place, group ? `${template.kind}.${group}` : template.kind);
  const copy = type && (await readOneObject(asking, place, type, template.metadata.namespace, template.metadata.name));
  if (!copy) return { reason: "it is not there yet" };
  if (generationOf(copy) !== String(template.metadata.generation ?? 0))
    return { reason: "it still has an older version" };
  return (await interpreter.health(copy as unknown as Template)) === "Healthy"
    ? {}
    : { reason: "it is not healthy yet" };
}

function generationOf({ metadata }: JsonObject): string {
  return textOf(objectOf(objectOf(metadata)["annotations"])[TEMPLATE_GENERATION]);
}

/**
 * How a member is that could not be read: what the hub last heard of it counts, unless it is away, when that is no news
 * of how it is now. Pure.
 */
export function unseenStand(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  { place, reason, isAway = false }: Failure,
): Stand {
  return {
    cluster: place.name,
    ...(isAway || place.unready !== undefined
      ? { reason: `it cannot be seen: ${reason}` }
      : reportedReason(template, binding, place.name, reason)),
  };
}

function reportedReason(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  cluster: string,
  why: string,
): { reason?: string } {
  const item = binding.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster);
  if (!item?.applied) return { reason: item?.appliedMessage || why };
  const generation = (item.status as { resourceTemplateGeneration?: number } | undefined)?.resourceTemplateGeneration;
  if (generation !== undefined && generation !== template.metadata.generation)
    return { reason: "it reports an older version" };
  return item.health === "Healthy" ? {} : { reason: `it reports ${item.health ?? "nothing of its health"}` };
}
