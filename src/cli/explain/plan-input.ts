/** Plans on a snapshot of the hub with manifests added and clusters taken away. */
import { gvkOf } from "../../api/index.ts";
import type { KubernetesObject } from "../../api/index.ts";
import { FlotillaError, UsageError } from "../../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import { InterpretError } from "../../interpreter/index.ts";
import type { Dependency, Interpreter } from "../../interpreter/index.ts";
import { planChanges, planFleet, planNamespaceChanges } from "../../explain/index.ts";
import type { FleetPlan, MemberChange } from "../../explain/index.ts";
import { dryRun, withObjects } from "./apply-input.ts";
import { createHubInterpreter, webhookFor } from "./hub-interpreter.ts";
import { readHub, readMore } from "./read-snapshot.ts";
import type { HubState } from "./read-snapshot.ts";

export interface PlanInput {
  manifests: readonly JsonObject[];
  /** Members that count as gone. */
  without: readonly string[];
  /** For manifests that name none. */
  namespace: string;
}

export interface PlanResult {
  /** Sorted by cluster. */
  changes: MemberChange[];
  /** What would keep resources from going on. */
  problems: { resource: string; message: string }[];
  /** What this plan does not show. */
  notes: string[];
}

type Object = DeepReadonly<KubernetesObject>;

/** The plan of the whole fleet, and what of it concerns people. */
export interface PlannedFleet {
  plan: FleetPlan;
  result: PlanResult;
}

export async function planInput(client: Client, input: PlanInput, clock: Clock, signal: AbortSignal): Promise<PlanResult> {
  return (await planManifests(client, input, clock, signal)).result;
}

export async function planManifests(client: Client, { manifests, without, namespace }: PlanInput, clock: Clock, signal: AbortSignal): Promise<PlannedFleet> {
  const given = await dryRun(client, manifests, namespace, signal);
  const selected = given.flatMap((object) => (object as { spec?: { resourceSelectors?: { apiVersion: string; kind: string }[] } }).spec?.resourceSelectors ?? []);
  const read = await readHub(client, selected, signal);
  const { interpreter, close } = createHubInterpreter(withObjects(read, given), clock);
  try {
    const before = await readMore(client, read, await neededKinds(withObjects(read, given), interpreter), signal);
    const state = withoutClusters(withObjects(before, given), without);
    refuseWebhooks(state, given);
    const [asking, known] = partition(state.snapshot.templates, (template) => webhookFor(state, template) !== undefined);
    const snapshot = { ...state.snapshot, templates: known };
    const plan = await planFleet(snapshot, { interpreter, nowMs: clock.now() });
    const namespaces = given.filter((object) => object.kind === "Namespace" && gvkOf(object).group === "" && !plan.templates.some(({ template }) => template.kind === "Namespace" && template.metadata.name === object.metadata.name));
    const changes = [...planChanges(plan), ...planNamespaceChanges(snapshot, namespaces)];
    const result: PlanResult = {
      changes: changes.map((change) => (without.includes(change.cluster) && change.action === "delete" ? { ...change, note: `${change.cluster} is away` } : change)),
      problems: plan.templates.flatMap(({ template, problems }) => problems.map((message) => ({ resource: titleOf(template), message }))),
      notes: asking.length > 0 ? [`${asking.length} resources are left out: what they mean is asked of a webhook that only the hub can reach`] : [],
    };
    return { plan, result };
  } finally {
    await close();
  }
}

const titleOf = ({ kind, metadata: { namespace, name } }: Object): string => `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

function refuseWebhooks(state: HubState, given: readonly Object[]): void {
  for (const object of given) {
    const webhook = webhookFor(state, object);
    if (webhook !== undefined) throw new FlotillaError("WebhookInterpreter", `planning ${titleOf(object)}: the hub asks webhook ${webhook} what this kind means, and only the hub can reach it; leave the object out of the plan`);
  }
}

function withoutClusters(state: HubState, names: readonly string[]): HubState {
  const { clusters } = state.snapshot;
  const unknown = names.find((name) => !clusters.some(({ metadata }) => metadata.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no member '${unknown}'; the fleet has ${clusters.map(({ metadata }) => metadata.name).join(", ") || "none"}`);
  return names.length === 0 ? state : { ...state, snapshot: { ...state.snapshot, clusters: clusters.filter(({ metadata }) => !names.includes(metadata.name)) } };
}

/** The kinds of what resources may take along; nothing where no policy asks for that. */
async function neededKinds({ snapshot }: HubState, interpreter: Pick<Interpreter, "dependencies">): Promise<Dependency[]> {
  const takers = [...snapshot.policies, ...snapshot.clusterPolicies].filter(({ spec }) => spec.propagateDeps);
  const kinds = new Set(takers.flatMap(({ spec }) => spec.resourceSelectors.map(({ kind }) => kind)));
  const found: Dependency[] = [];
  for (const template of snapshot.templates) {
    if (!kinds.has(template.kind)) continue;
    try {
      found.push(...(await interpreter.dependencies(template)));
    } catch (error) {
      // The plan itself says so where it matters.
      if (!(error instanceof InterpretError)) throw error;
    }
  }
  return found;
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const [first, second]: [T[], T[]] = [[], []];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
