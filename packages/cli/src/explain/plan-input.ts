/** Plans on a snapshot of the hub with manifests added and clusters removed. */
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import { openRollout } from "@flotilla/openkruise";
import type { Dependency } from "@flotilla/kubernetes";
import { planChanges, planFleet, planNamespaceChanges } from "@flotilla/flotilla";
import type { FleetPlan, Interpreter, MemberChange, TemplatePlan } from "@flotilla/flotilla";
import { dryRun, isSame, withObjects } from "./apply-input.ts";
import { createHubInterpreter, webhookFor } from "./hub-interpreter.ts";
import { ownChanges, type PlanChanges } from "./own-changes.ts";
import { readHub, readMore } from "./read-snapshot.ts";
import { withRetained } from "./retained-changes.ts";
import type { HubState } from "./read-snapshot.ts";
import { executionNamespace } from "@flotilla/karmada";

export interface PlanInput {
  manifests: readonly JsonObject[];
  /** Members to exclude. */
  without: readonly string[];
  /** For manifests without a namespace. */
  namespace: string;
}

interface UnreachableMember {
  cluster: string;
  reason: string;
}

export interface PlanResult extends PlanChanges {
  /** What this plan does not show. */
  notes: string[];
  /** Changed members that do not respond now; unset when not checked, or all respond. */
  unreachable?: UnreachableMember[];
}

type Object = DeepReadonly<KubernetesObject>;

/** The plan of the whole fleet, and the part to show. */
export interface PlannedFleet {
  plan: FleetPlan;
  result: PlanResult;
  /** The resources of the plan that are among the manifests, or whose policies are. */
  asked: TemplatePlan[];
}

export async function planInput(
  client: Client,
  input: PlanInput,
  clock: Clock,
  signal: AbortSignal,
): Promise<PlanResult> {
  return (await planManifests(client, input, clock, signal)).result;
}

export async function planManifests(
  client: Client,
  { manifests, without, namespace }: PlanInput,
  clock: Clock,
  signal: AbortSignal,
): Promise<PlannedFleet> {
  const given = await dryRun(client, manifests, namespace, signal);
  const selected = given.flatMap(
    (object) =>
      (object as { spec?: { resourceSelectors?: { apiVersion: string; kind: string }[] } }).spec?.resourceSelectors ??
      [],
  );
  const read = await readHub(client, selected, signal);
  const { interpreter, close } = createHubInterpreter(withObjects(read, given), clock);
  try {
    const before = await readMore(client, read, await neededKinds(withObjects(read, given), interpreter), signal);
    const { state, gone } = withoutClusters(withObjects(before, given), without);
    refuseWebhooks(state, given);
    const { snapshot, asking } = withoutAsking(state);
    const plan = await planFleet(snapshot, { interpreter, nowMs: clock.now() });
    const namespaces = given.filter(
      (object) =>
        object.kind === "Namespace" &&
        gvkOf(object).group === "" &&
        !plan.templates.some(
          ({ template }) => template.kind === "Namespace" && template.metadata.name === object.metadata.name,
        ),
    );
    const changes = [...planChanges(plan, gone), ...planNamespaceChanges(snapshot, namespaces)];
    const planned = {
      changes: changes.map((change) =>
        without.includes(change.cluster) && change.action === "delete"
          ? { ...change, note: "excluded by --without-cluster" }
          : change,
      ),
      problems: problemsIn(plan),
    };
    const asked = plan.templates.filter((each) => concerns(given, each));
    const titles = new Set(asked.map(({ template }) => titleOf(template)));
    const { note, ...own } = ownChanges(planned, await planStanding(before, clock), (resource) => titles.has(resource));
    const { notes: kept, ...ended } = await withRetained(plan, own, { client, interpreter, clock, signal });
    const notes = [
      ...(asking > 0
        ? [`${asking} resources are skipped: they are interpreted by a webhook that only the hub can reach`]
        : []),
      ...firstSteps(plan, ended.changes),
      ...kept,
      ...(note === undefined ? [] : [note]),
    ];
    return { plan, result: { ...ended, notes }, asked };
  } finally {
    await close();
  }
}

const titleOf = ({ kind, metadata: { namespace, name } }: Object): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

const problemsIn = ({ templates }: FleetPlan): PlanChanges["problems"] =>
  templates.flatMap(({ template, problems }) => problems.map((message) => ({ resource: titleOf(template), message })));

/** What the hub would do anyway. */
async function planStanding(state: HubState, clock: Clock): Promise<PlanChanges> {
  const { interpreter, close } = createHubInterpreter(state, clock);
  try {
    const plan = await planFleet(withoutAsking(state).snapshot, { interpreter, nowMs: clock.now() });
    return { changes: planChanges(plan), problems: problemsIn(plan) };
  } finally {
    await close();
  }
}

/** Whether a resource, or the policy that claims it, is among the manifests. */
function concerns(given: readonly Object[], { template, match }: TemplatePlan): boolean {
  const policy = match.outcome === "matched" ? match.policy : undefined;
  return given.some((object) => isSame(object, template) || (policy !== undefined && isSame(object, policy)));
}

/** Later steps that a plan cannot show, because they depend on what members report about the first. */
function firstSteps({ templates }: FleetPlan, changes: readonly MemberChange[]): string[] {
  const changing = new Set(changes.map(({ object: { kind, namespace = "", name } }) => `${kind} ${namespace}/${name}`));
  return templates.flatMap(({ template, works }) => {
    const open =
      changing.has(`${template.kind} ${template.metadata.namespace ?? ""}/${template.metadata.name}`) &&
      openRollout(works.after.flatMap(({ spec }) => (spec.workload?.manifests ?? []) as unknown as Object[]));
    return open
      ? [
          `${titleOf(template)}: this is the first step, which updates ${open.updated} of ${open.demanded} pods; the others follow as members report`,
        ]
      : [];
  });
}

/** Resources interpreted by a webhook cannot be planned here. */
function withoutAsking(state: HubState): { snapshot: HubState["snapshot"]; asking: number } {
  const known = state.snapshot.templates.filter((template) => webhookFor(state, template) === undefined);
  return { snapshot: { ...state.snapshot, templates: known }, asking: state.snapshot.templates.length - known.length };
}

function refuseWebhooks(state: HubState, given: readonly Object[]): void {
  for (const object of given) {
    const webhook = webhookFor(state, object);
    if (webhook !== undefined)
      throw new FlotillaError(
        "WebhookInterpreter",
        `planning ${titleOf(object)}: this kind is interpreted by webhook ${webhook}, which only the hub can reach; remove the object from the plan`,
      );
  }
}

/** As if the clusters had left: their copies no longer count and are shown as deleted. */
function withoutClusters(
  state: HubState,
  names: readonly string[],
): { state: HubState; gone: HubState["snapshot"]["works"] } {
  const { clusters, works } = state.snapshot;
  const unknown = names.find((name) => !clusters.some(({ metadata }) => metadata.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `member '${unknown}' not found; the fleet has ${clusters.map(({ metadata }) => metadata.name).join(", ") || "none"}`,
    );
  if (names.length === 0) return { state, gone: [] };
  const namespaces = new Set(names.map(executionNamespace));
  const [gone, staying] = partition(works, ({ metadata }) => namespaces.has(metadata.namespace ?? ""));
  return {
    state: {
      ...state,
      snapshot: {
        ...state.snapshot,
        works: staying,
        clusters: clusters.filter(({ metadata }) => !names.includes(metadata.name)),
      },
    },
    gone,
  };
}

/** The kinds of possible dependencies; empty where no policy propagates them. */
async function neededKinds(
  { snapshot }: HubState,
  interpreter: Pick<Interpreter, "dependencies">,
): Promise<Dependency[]> {
  const takers = [...snapshot.policies, ...snapshot.clusterPolicies].filter(({ spec }) => spec.propagateDeps);
  const kinds = new Set(takers.flatMap(({ spec }) => spec.resourceSelectors.map(({ kind }) => kind)));
  const found: Dependency[] = [];
  for (const template of snapshot.templates) {
    if (!kinds.has(template.kind)) continue;
    try {
      found.push(...(await interpreter.dependencies(template)));
    } catch (error) {
      // The plan itself reports it where it matters.
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
