/**
 * Waits until members have the applied objects and are healthy: each member's copy is read there, and for copies that
 * cannot be read, the hub's status is used.
 */
import { findCondition, formatApiVersion, gvkOf, HUB, objectTitle, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { bindingName, ClusterResourceBinding, ResourceBinding, TEMPLATE_GENERATION } from "@flotilla/karmada";
import { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { capitalised, FlotillaError, sleep, textOf, objectOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import {
  copiesOf,
  hasHealthRule,
  heldPods,
  hidesItsPods,
  isIdleBudget,
  isOnlyNeeded,
  RELEASED,
  RUN_FAILED,
  runsToCompletion,
  whyBroken,
  whyUnhealthy,
} from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import { ask } from "../members/ask.ts";
import type { Asking } from "../members/ask.ts";
import { readDataReason } from "../members/data-reason.ts";
import { createDiscovery } from "../members/discovery.ts";
import type { Discovery } from "../members/discovery.ts";
import { askEach } from "../members/each-place.ts";
import type { Failure } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import { readOneObject } from "../members/read-objects.ts";
import { runProgress } from "../members/run-progress.ts";
import { joinWaiting } from "./join-waiting.ts";
import { keptReason, withMembersReplicas } from "./members-decide.ts";
import { whyWithoutMembers } from "./why-without-members.ts";
import { leftReason, replicasOf, unhealthyOnHub } from "./unhealthy-on-hub.ts";
import { isOf } from "./is-of-kind.ts";

type Template = DeepReadonly<KubernetesObject>;

interface WaitTools {
  asking: Asking;
  client: Client;
  interpreter: Pick<Interpreter, "health" | "ownerOf">;
  timeoutMs: number;
  /** Runs are waited for until they have succeeded; otherwise until they are healthy, which they are while they run. */
  untilComplete?: boolean;
  /** Why the pods of a copy do not run, as far as they show it. `isCertain`: only what does not pass by itself. */
  podCause(copy: WaitingCopy, isCertain: boolean): Promise<string | undefined>;
  /** Why nothing changes on the hub: its controllers do not run. */
  hubCause(): Promise<string | undefined>;
  /** Called with a cause when it is first found, and when it changes. */
  onCause(text: string): void;
  /** Called once for each cluster, when it is done; `left`: what a run that is healthy has still to do. */
  onDone(resource: string, cluster: string, left: string | undefined): void;
  progress(text: string): void;
}

/** A copy on a member that is not healthy yet. */
interface WaitingCopy {
  cluster: string;
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
}

interface Waiting {
  /** `Deployment shop/web` */
  title: string;
  cluster: string;
  reason: string;
  /** Unset if the hub or the object that delivers it is what is waited for. */
  copy: WaitingCopy | undefined;
  final: Final | undefined;
}

/** The progress of one cluster; without a reason it is done. */
interface ClusterProgress extends Standing {
  cluster: string;
}

interface Standing {
  reason?: string;
  /** What failed, if it does not become healthy any more. */
  final?: Final | undefined;
  /** What a run that is healthy has still to do. */
  left?: string | undefined;
  /** The replicas of its copy. */
  replicas?: number | undefined;
}

type Final = "run" | "release" | "kept";

const POLL_MS = 500;
/** Copies whose pods are read for a cause. */
const MAX_ASKED = 5;
/** Reasons of the condition `Released`. */
const FAILED_RELEASES: ReadonlySet<string> = new Set(["RollingBack", "RolledBack", "Failed"]);
/** Between two looks at pods and controllers. The first is after as long, because pods need time to start. */
const CAUSE_MS = 5_000;

/** Throws at the timeout, with what is missing, and as soon as a run or a release has failed. */
export async function waitUntilApplied(resources: readonly Template[], tools: WaitTools): Promise<void> {
  const { asking, timeoutMs, progress, onDone } = tools;
  const untilMs = asking.clock.now() + timeoutMs;
  const kinds = createKindResolver({ client: tools.client, cluster: HUB });
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const done = new Set<string>();
  const causeOf = createCauses(tools);
  for (;;) {
    const waiting: Waiting[] = [];
    for (const resource of resources) {
      const title = objectTitle(resource);
      if (done.has(title)) continue;
      const stands = await progressOf(resource, tools, kinds, discovery);
      for (const { cluster, reason, final, left } of stands) {
        if (reason !== undefined) waiting.push({ title, cluster, reason, copy: copyOf(resource, cluster), final });
        else if (!done.has(`${title} ${cluster}`)) {
          done.add(`${title} ${cluster}`);
          onDone(title, cluster, left);
        }
      }
      if (stands.every(({ reason }) => reason === undefined)) done.add(title);
    }
    if (waiting.length === 0) return;
    const failed = waiting.filter(({ final }) => final !== undefined);
    if (failed.some(({ final }) => final === "release"))
      throw new FlotillaError(
        "ReleaseFailed",
        `${await renderWaiting(failed, tools)}. Correct the template, or continue with 'flotilla rollout retry'; 'flotilla rollout status' has the details`,
      );
    if (failed.some(({ final }) => final === "kept"))
      throw new FlotillaError(
        "ReleaseFailed",
        `${await renderWaiting(failed, tools)}. If the hub should decide the images, remove them from the rule; run 'flotilla why' for details`,
      );
    if (failed.length > 0)
      throw new FlotillaError(
        "RunFailed",
        `${await renderWaiting(failed, tools)}. A run that failed does not start again; run 'flotilla why' for details`,
      );
    if (asking.clock.now() >= untilMs) {
      const hub = await tools.hubCause();
      throw new FlotillaError(
        "NotReady",
        `after ${timeoutMs / 1000} s not everything is ${tools.untilComplete ? "complete" : "applied and healthy"}: ` +
          `${await renderWaiting(waiting, tools)}. ` +
          `${hub === undefined ? "The hub keeps trying" : capitalised(hub)}; run 'flotilla why' for details`,
      );
    }
    const cause = await causeOf(waiting);
    const what = `${waiting.length === 1 ? "" : `${waiting.length} copies, `}${joinWaiting(waiting.slice(0, 1))}`;
    progress(`waiting for ${what}${cause === undefined ? "" : ` (${cause})`}`);
    await sleep(asking.clock, POLL_MS, asking.signal);
  }
}

/** The cause that is known of what is waited for; looks once per interval, and reports each cause once. */
function createCauses({ asking: { clock }, podCause, hubCause, onCause }: WaitTools) {
  let nextMs = clock.now() + CAUSE_MS;
  let known: string | undefined;
  return async (waiting: readonly Waiting[]): Promise<string | undefined> => {
    if (clock.now() < nextMs) return known;
    const [hub, ...pods] = await Promise.all([
      hubCause(),
      ...waiting
        .slice(0, MAX_ASKED)
        .map(async ({ title, copy }) => ({ title, copy, cause: copy && (await podCause(copy, true)) })),
    ]);
    const found = pods.find(({ cause }) => cause !== undefined);
    const cause = hub ?? found?.cause;
    if (cause !== undefined && cause !== known)
      onCause(hub ?? `${found?.title ?? ""} on ${found?.copy?.cluster ?? ""}: ${cause}`);
    known = cause;
    nextMs = clock.now() + CAUSE_MS;
    return known;
  };
}

async function renderWaiting(waiting: readonly Waiting[], { podCause }: WaitTools): Promise<string> {
  const asked = waiting
    .slice(0, MAX_ASKED)
    .map(async (each) => ({ ...each, cause: each.copy && (await podCause(each.copy, false)) }));
  return joinWaiting([...(await Promise.all(asked)), ...waiting.slice(MAX_ASKED)]);
}

const copyOf = (resource: Template, cluster: string): WaitingCopy | undefined =>
  cluster === HUB || isCarrier(resource)
    ? undefined
    : {
        cluster,
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        namespace: resource.metadata.namespace || undefined,
        name: resource.metadata.name,
      };

/**
 * Whether an object can be waited for: Open Cluster Management kinds that apply objects to members. Templates are known
 * from the plan.
 */
export const isCarrier = (object: Template): boolean =>
  isOf(ManifestWork, object) || isOf(ManifestWorkReplicaSet, object);

async function progressOf(
  resource: Template,
  tools: WaitTools,
  kinds: KindResolver,
  discovery: Discovery,
): Promise<ClusterProgress[]> {
  const { client, asking } = tools;
  const kind = await kinds.resolve(resource);
  const { namespace, name } = resource.metadata;
  const object = await find(
    client,
    kind,
    { cluster: HUB, namespace: namespace || undefined, name },
    { signal: asking.signal },
  );
  if (!object) return [{ cluster: HUB, reason: "it was deleted in the meantime" }];
  if (isCarrier(resource))
    return [{ cluster: isOf(ManifestWork, resource) ? (namespace ?? "") : "its clusters", ...carrierReason(object) }];
  return templateProgress(object, tools, kinds, discovery);
}

/** All conditions of this generation are true. */
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
            ? "its status is of an older generation"
            : condition?.message || `${type} is not reported yet`,
      };
  }
  return isOf(ManifestWork, object) ? manifestReason(object as unknown as DeepReadonly<ManifestWork>) : {};
}

/** An object that is applied and exists may still not run. A Job progresses for as long as it runs. */
function manifestReason({ status }: DeepReadonly<ManifestWork>): { reason?: string } {
  for (const { resourceMeta, conditions } of status?.resourceStatus?.manifests ?? []) {
    const { group = "", version = "", kind = "" } = resourceMeta;
    const isRun = runsToCompletion({ apiVersion: formatApiVersion(group, version), kind });
    const wrong = (isRun ? ["Degraded"] : ["Degraded", "Progressing"])
      .map((type) => findCondition(conditions, type))
      .find((condition) => condition?.status === "True");
    if (wrong) return { reason: wrong.message };
  }
  return {};
}

async function templateProgress(
  resource: Template,
  tools: WaitTools,
  kinds: KindResolver,
  discovery: Discovery,
): Promise<ClusterProgress[]> {
  const { client, asking, interpreter } = tools;
  const { namespace, name } = resource.metadata;
  const bindings = namespace ? ResourceBinding : (ClusterResourceBinding as unknown as Kind<ResourceBinding>);
  const binding = await find(
    client,
    bindings,
    { cluster: HUB, namespace: namespace || undefined, name: bindingName(resource.kind, name) },
    { signal: asking.signal },
  );
  const targets = binding ? copiesOf(binding.spec) : [];
  if (!binding || targets.length === 0 || !isScheduled(binding))
    return [{ cluster: HUB, reason: await whyWithoutMembers(resource, binding, client, asking.signal) }];
  const dispatched = findCondition(binding.status?.conditions, "Dispatched");
  if (dispatched?.status === "False" && dispatched.message) return [{ cluster: HUB, reason: dispatched.message }];
  const template = await inVersionOf(binding, resource, client, kinds, asking.signal);
  const places = await findPlaces(
    client,
    targets.map((target) => target.name),
    asking.signal,
  );
  const { answers, failures } = await askEach(places, asking.signal, (place) =>
    memberReason({ template, binding, place }, tools, discovery),
  );
  // Failover moves it to another member.
  const isMoved = binding.spec.failover?.application !== undefined;
  const stands = [
    ...answers.map(({ place, answer }) => ({ cluster: place.name, ...answer })),
    ...failures.map((failure) => reportedProgress(template, binding, failure)),
  ]
    .map((stand): ClusterProgress => (isMoved ? { ...stand, final: undefined } : stand))
    .map((stand) => (tools.untilComplete && stand.left !== undefined ? { ...stand, reason: stand.left } : stand));
  const unreleased = unreleasedReason(resource, binding);
  // Members whose wave is not open are healthy, in the revision before.
  if (unreleased) return [unreleased, ...stands.filter(({ reason }) => reason !== undefined)];
  const left = leftReason(template, binding);
  if (left !== undefined)
    return [{ cluster: HUB, reason: left }, ...stands.filter(({ reason }) => reason !== undefined)];
  if (stands.some(({ reason }) => reason !== undefined)) return stands;
  // A fleet-wide release proceeds in steps, and every step looks healthy on its members.
  const deps = { client, signal: asking.signal };
  // The hub cannot write a status there.
  if (!(await kinds.resolve(template)).subresources?.status) return stands;
  const kept = await keptReason(template, binding, stands, deps);
  if (kept !== undefined) return [...stands, { cluster: HUB, reason: kept, final: "kept" }];
  if (await isHealthyOnHub(template, interpreter)) return stands;
  const decided = await withMembersReplicas(template, binding, stands, { ...deps, interpreter });
  return decided !== undefined && (await isHealthyOnHub(decided, interpreter))
    ? stands
    : [...stands, { cluster: HUB, reason: unhealthyOnHub(template, binding, stands, interpreter) }];
}

const isHealthyOnHub = async (template: Template, { health }: Pick<Interpreter, "health">): Promise<boolean> =>
  (await health(template)) === "Healthy" ||
  isIdleBudget(template) ||
  (isObserved(template) && heldPods(template) !== undefined);

/** The scheduler does not look at an object that only follows the workloads that need it. */
const isScheduled = (binding: DeepReadonly<ResourceBinding>): boolean =>
  isOnlyNeeded(binding) || binding.status?.schedulerObservedGeneration === binding.metadata.generation;

/** What the release waits for, or why it failed. A condition about an earlier template is ignored. */
function unreleasedReason(
  { metadata }: Template,
  { status }: DeepReadonly<ResourceBinding>,
): ClusterProgress | undefined {
  const released = findCondition(status?.conditions, RELEASED);
  if (released?.status !== "False" || released.observedGeneration !== metadata.generation) return undefined;
  return {
    cluster: HUB,
    reason: released.message ?? "",
    final: FAILED_RELEASES.has(released.reason ?? "") ? "release" : undefined,
  };
}

/**
 * The object in the version that its binding names: the hub runs the rules of that version, and rules of users are for
 * one version.
 */
async function inVersionOf(
  { spec }: DeepReadonly<ResourceBinding>,
  object: Template,
  client: Client,
  kinds: KindResolver,
  signal: AbortSignal,
): Promise<Template> {
  const { apiVersion, kind } = spec.resource;
  if (apiVersion === object.apiVersion || parseApiVersion(apiVersion).group !== gvkOf(object).group) return object;
  const { namespace, name } = object.metadata;
  const key = { cluster: HUB, namespace: namespace || undefined, name };
  return (await find(client, await kinds.resolve({ apiVersion, kind }), key, { signal })) ?? object;
}

/** Checks the member's own copy. */
async function memberReason(
  { template, binding, place }: { template: Template; binding: DeepReadonly<ResourceBinding>; place: Place },
  { asking, client, interpreter, podCause }: WaitTools,
  discovery: Discovery,
): Promise<Standing> {
  const { group, version } = gvkOf(template);
  const word = group ? `${template.kind}.${group}` : template.kind;
  const same = group ? await discovery.typesAt(place, `${template.kind}.${version}.${group}`) : [];
  // In the member's preferred version where it does not serve that of the template.
  const [type] = same.length > 0 ? same : await discovery.typesAt(place, word);
  const copy = type && (await readOneObject(asking, place, type, template.metadata.namespace, template.metadata.name));
  const refused = refusalOf(binding, place.name);
  if (refused !== undefined) return { reason: refused };
  if (!copy) return { reason: "it does not exist yet" };
  if (generationOf(copy) !== String(template.metadata.generation ?? 0))
    return { reason: "it still has an older version" };
  // A rule that retains data of the member decides what the copy has.
  const reason = interpreter.ownerOf("retain", template)
    ? undefined
    : await readDataReason(client, template, copy, place.name, asking.signal);
  if (reason !== undefined) return { reason };
  const hasRule = hasHealthRule(template) || interpreter.ownerOf("isHealthy", template) !== undefined;
  const broken = hasRule ? undefined : whyBroken(copy as unknown as Template)?.message;
  if (broken !== undefined) return { reason: broken };
  const standing = healthReason(copy as unknown as Template, await interpreter.health(copy as unknown as Template));
  if (standing.left !== undefined && (await hasStuckPods(copy as unknown as Template, place.name, podCause)))
    return { reason: standing.left };
  return { ...standing, replicas: replicasOf(copy) };
}

/** Of a run whose status says nothing about its pods: whether they show a problem that does not pass by itself. */
async function hasStuckPods(copy: Template, cluster: string, podCause: WaitTools["podCause"]): Promise<boolean> {
  const ref = copyOf(copy, cluster);
  return (
    ref !== undefined &&
    hidesItsPods(copy, (copy as unknown as JsonObject)["status"]) &&
    (await podCause(ref, true)) !== undefined
  );
}

/** Why the member did not take what the hub sent: it rejected it, or has an object that the hub does not manage. */
function refusalOf({ status }: DeepReadonly<ResourceBinding>, cluster: string): string | undefined {
  const item = status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster);
  return item?.applied === false ? item.appliedMessage || undefined : undefined;
}

/** The rule of a kind can be satisfied while a new pod does not start beside the old ones. */
function healthReason(copy: Template, health: string): Standing {
  const wrong = whyUnhealthy(copy, health);
  if (wrong?.reason === RUN_FAILED && runsToCompletion(copy)) return { reason: wrong.message, final: "run" };
  if (wrong) return { reason: wrong.message };
  if (health === "Healthy") return { left: runProgress(copy) };
  if (isIdleBudget(copy)) return {};
  // Karmada's rules wait for pods that nothing replaces.
  const held = isObserved(copy) ? heldPods(copy) : undefined;
  return held === undefined ? { reason: "it is not healthy yet" } : { left: held };
}

function isObserved(object: Template): boolean {
  const { observedGeneration } = (object as { status?: { observedGeneration?: unknown } }).status ?? {};
  return typeof observedGeneration === "number" && observedGeneration >= (object.metadata.generation ?? 0);
}

function generationOf({ metadata }: JsonObject): string {
  return textOf(objectOf(objectOf(metadata)["annotations"])[TEMPLATE_GENERATION]);
}

/**
 * The progress of a member that could not be read: its last report on the hub counts, unless the member is unreachable,
 * when that report is stale. Pure.
 */
export function reportedProgress(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  { place, reason, isAway = false }: Failure,
): ClusterProgress {
  return {
    cluster: place.name,
    ...(isAway || place.unready !== undefined
      ? { reason: `it cannot be read: ${reason}` }
      : reportedReason(template, binding, place.name, reason)),
  };
}

function reportedReason(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  cluster: string,
  why: string,
): Standing {
  const item = binding.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster);
  if (!item?.applied) return { reason: item?.appliedMessage || why };
  const generation = (item.status as { resourceTemplateGeneration?: number } | undefined)?.resourceTemplateGeneration;
  if (generation !== undefined && generation !== template.metadata.generation)
    return { reason: "it reports an older version" };
  const unhealthy = item.health === "Healthy" ? {} : { reason: `it reports ${item.health ?? "no health"}` };
  if (item.status === undefined) return unhealthy;
  const { apiVersion, kind, metadata } = template;
  const { replicas } = binding.spec.clusters?.find(({ name }) => name === cluster) ?? {};
  const copy = { apiVersion, kind, metadata: { name: metadata.name }, spec: { replicas }, status: item.status };
  const observed = healthReason(copy, item.health ?? "Unknown");
  return observed.final || item.health === "Healthy" || isIdleBudget(copy) ? observed : unhealthy;
}
