/** Plans on a snapshot of the hub with manifests added and clusters removed. */
import { gvkOf, HUB, inVersion, parseApiVersion, objectTitle } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { compareText, didYouMean, FlotillaError, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import type { Dependency } from "@flotilla/kubernetes";
import {
  isJob,
  isTemplate,
  isTemplateGroup,
  planChanges,
  planFleet,
  planNamespaceChanges,
  planNamespaces,
  undeliveredProblems,
} from "@flotilla/flotilla";
import type { FleetPlan, Interpreter, TemplatePlan } from "@flotilla/flotilla";
import { isSame, tryAll, withObjects } from "./apply-input.ts";
import type { Applied, ApplyInput } from "./apply-input.ts";
import { competingPolicies } from "./competing-policies.ts";
import { createDryRunClient } from "./dry-run-client.ts";
import { splitFinishedCopies } from "./finished-copies.ts";
import { withAutoscaled } from "./autoscaled-changes.ts";
import { withExisting } from "./existing-changes.ts";
import { expiringIn, expiryNotes } from "./expiry-notes.ts";
import type { Expiring } from "./expiry-notes.ts";
import { federatedScaling } from "./federated-scaling.ts";
import { firstSteps } from "./first-steps.ts";
import { hubChangesOf } from "./hub-changes.ts";
import type { HubChange } from "./hub-changes.ts";
import { isLeftByPolicy, LEFT_COPIES } from "../health/lost-targets.ts";
import { createHubInterpreter, webhookFor } from "./hub-interpreter.ts";
import { laterEffects } from "./later-effects.ts";
import { createLocateNamedPods } from "./locate-named-pods.ts";
import { ownChanges, type PlanChanges, type PlanProblem } from "./own-changes.ts";
import { quotaProblems } from "./member-quotas.ts";
import { readHub, readMore } from "./read-snapshot.ts";
import { withRetained } from "./retained-changes.ts";
import type { HubState } from "./read-snapshot.ts";
import { releasesIn } from "./planned-releases.ts";
import type { PlannedRelease } from "./planned-releases.ts";
import { taintedIn, taintNotes } from "./taint-notes.ts";
import type { Tainted } from "./taint-notes.ts";
import { versionsBetween } from "./versions-between.ts";
import { planOcmChanges } from "./work-changes.ts";
import { executionNamespace } from "@flotilla/karmada";

interface PlanInput extends ApplyInput {
  /** Members to exclude. */
  without: readonly string[];
}

interface UnreachableMember {
  cluster: string;
  reason: string;
}

export interface PlanResult extends PlanChanges {
  /** Changes of the manifests' objects on the hub, in apply order; `changes` are those of members. */
  hub: HubChange[];
  /** Warnings of the hub about the manifests, such as a policy that names a member that has not joined. */
  warnings: PlanProblem[];
  /** Releases that would begin, of templates that a RolloutStrategy selects; `changes` are those of their first step. */
  releases: PlannedRelease[];
  /** Changed objects of the hub whose effect on members is not planned. */
  unplanned: string[];
  /** What this plan does not show. */
  notes: string[];
  /** Changed members that do not respond now; unset when not checked, or all respond. */
  unreachable?: UnreachableMember[];
}

/** Whether applying would change a member. Where that is not planned, it may. */
export const mayChangeMembers = ({ changes, releases, unplanned }: DeepReadonly<PlanResult>): boolean =>
  changes.length + releases.length + unplanned.length > 0;

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
  { without, ...input }: PlanInput,
  clock: Clock,
  signal: AbortSignal,
): Promise<PlannedFleet> {
  const warnings: PlanProblem[] = [];
  const dry = createDryRunClient(client, signal, (object, message) => {
    const resource = objectTitle(object as unknown as Object);
    if (!warnings.some((other) => other.resource === resource && other.message === message))
      warnings.push({ resource, message });
  });
  const { applied, unknown } = await tryAll(client, dry, input, signal);
  const given = applied.map(({ object }) => object);
  const selected = given.flatMap(
    (object) =>
      (object as { spec?: { resourceSelectors?: { apiVersion: string; kind: string }[] } }).spec?.resourceSelectors ??
      [],
  );
  const read = await readHub(client, selected, signal);
  const versions = await readVersions(dry, applied, read, selected, signal);
  const { interpreter, close } = createHubInterpreter(withObjects(read, versions), clock);
  try {
    const before = await readMore(client, read, await neededKinds(withObjects(read, versions), interpreter), signal);
    const { state, gone } = withoutClusters(withObjects(before, versions), without);
    refuseWebhooks(state, given);
    const { snapshot, asking } = withoutAsking(state);
    const locatePods = createLocateNamedPods({ client, clock, signal });
    const plan = await planFleet(
      { ...snapshot, stored: before.snapshot.templates },
      { interpreter, nowMs: clock.now(), locatePods },
    );
    const namespaces = planNamespaces(
      snapshot,
      given.filter(
        (object) =>
          object.kind === "Namespace" &&
          gvkOf(object).group === "" &&
          !plan.templates.some(
            ({ template }) => template.kind === "Namespace" && template.metadata.name === object.metadata.name,
          ),
      ),
    );
    const moved = splitFinishedCopies(
      [...planChanges(plan, gone), ...planNamespaceChanges(namespaces)],
      [...snapshot.bindings, ...snapshot.clusterBindings],
      without,
    );
    const planned = {
      changes: moved.changes.map((change) =>
        without.includes(change.cluster) && change.action === "delete"
          ? { ...change, note: "excluded by --without-cluster" }
          : change,
      ),
      problems: problemsIn(plan),
    };
    const asked = plan.templates.filter((each) => concerns(given, each));
    const titles = new Set(asked.map(({ template }) => objectTitle(template)));
    const standing = await planStanding(before, clock);
    const { note, ...own } = ownChanges(planned, standing, (resource) => titles.has(resource));
    const taints = taintNotes(plan.templates, standing.tainted);
    const expiring = expiryNotes(plan.templates, standing.expiring, clock.now());
    const { notes: existing, ...met } = await withExisting({ templates: [...plan.templates, ...namespaces] }, own, {
      client,
      clock,
      signal,
    });
    const { notes: kept, ...retained } = await withRetained(plan, met, { client, interpreter, clock, signal });
    const { notes: scaled, ...ended } = await withAutoscaled(plan, retained, { client, clock, signal });
    const rooms = await quotaProblems(plan, ended.changes, { client, interpreter, clock, signal });
    const works = await planOcmChanges({ client, clock, signal }, applied);
    const later = laterEffects(applied);
    const hub = hubChangesOf(applied);
    const notes = [
      ...unknown.map(
        (object) =>
          `${objectTitle(object)}: not planned, because an aggregated API server answers for ${object.apiVersion}; it is applied as it is`,
      ),
      ...unselected(plan, applied),
      ...competingPolicies(plan.templates, applied, snapshot.unserved),
      ...versionsBetween({
        templates: plan.templates,
        quotas: snapshot.quotas,
        applied,
        created: ended.changes.filter(({ action }) => action === "create"),
        retainRuleOf: (object) => interpreter.ownerOf("retain", object),
      }),
      ...moved.notes,
      ...works.notes,
      ...later.notes,
      ...taints.notes,
      ...expiring.notes,
      ...(asking > 0
        ? [`${asking} resources are skipped: they are interpreted by a webhook that only the hub can reach`]
        : []),
      ...firstSteps(plan, ended.changes),
      ...existing,
      ...kept,
      ...scaled,
      ...(await federatedScaling(
        client,
        [...hub, ...ended.changes].map(({ object }) => object),
        signal,
      )),
      ...rooms.notes,
      ...(note === undefined ? [] : [note]),
    ];
    const undelivered = asked.flatMap((each) =>
      undeliveredProblems(each, planned.changes).map((message) => ({ resource: objectTitle(each.template), message })),
    );
    const result = {
      hub,
      changes: [...ended.changes, ...works.changes].sort((a, b) => compareText(a.cluster, b.cluster)),
      problems: [...ended.problems, ...undelivered, ...rooms.problems, ...works.problems],
      warnings,
      releases: releasesIn(asked),
      // A rule that only the hub can run may make something of any change of the hub.
      unplanned: [
        ...unknown.map(objectTitle),
        ...later.unplanned,
        ...taints.unplanned,
        ...expiring.unplanned,
        ...(asking > 0 && hub.length > 0 ? ["resources with a webhook"] : []),
      ],
      notes,
    };
    return { plan, result, asked };
  } finally {
    await close();
  }
}

/**
 * Each object in its own version, and in the other versions in which policies select it and members have it: the hub
 * converts it.
 */
async function readVersions(
  dry: Pick<Client, "get">,
  applied: readonly Applied[],
  { snapshot }: HubState,
  selected: readonly { apiVersion: string; kind: string }[],
  signal: AbortSignal,
): Promise<Object[][]> {
  const asked = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of [
    ...selected,
    ...[...snapshot.policies, ...snapshot.clusterPolicies].flatMap(({ spec }) => spec.resourceSelectors),
    ...[...snapshot.bindings, ...snapshot.clusterBindings].map(({ spec }) => spec.resource),
  ]) {
    const { group, version } = parseApiVersion(apiVersion);
    const id = `${group}/${kind}`;
    asked.set(id, (asked.get(id) ?? new Set()).add(version));
  }
  return Promise.all(
    applied.map(async ({ object, kind }) => {
      const { group, version } = gvkOf(object);
      const { namespace, name } = object.metadata;
      const others = [...(asked.get(`${group}/${object.kind}`) ?? [])].filter((other) => other !== version);
      const key = { cluster: HUB, namespace: namespace || undefined, name };
      const read = await Promise.all(others.map((other) => find(dry, inVersion(kind, other), key, { signal })));
      return [object, ...read.filter((found) => found !== undefined)];
    }),
  );
}

const problemsIn = ({ templates }: FleetPlan): PlanChanges["problems"] =>
  templates.flatMap(({ template, problems }) =>
    problems.map((message) => ({ resource: objectTitle(template), message })),
  );

/** What the hub would do anyway. */
async function planStanding(
  state: HubState,
  clock: Clock,
): Promise<PlanChanges & { tainted: Tainted; expiring: Expiring }> {
  const { interpreter, close } = createHubInterpreter(state, clock);
  try {
    const plan = await planFleet(withoutAsking(state).snapshot, { interpreter, nowMs: clock.now() });
    return {
      changes: planChanges(plan),
      problems: problemsIn(plan),
      tainted: taintedIn(plan.templates),
      expiring: expiringIn(plan.templates),
    };
  } finally {
    await close();
  }
}

/** Whether a resource, or the policy that claims it, is among the manifests. */
function concerns(given: readonly Object[], { template, match }: TemplatePlan): boolean {
  const policy = match.outcome === "matched" ? match.policy : undefined;
  return given.some((object) => isSame(object, template) || (policy !== undefined && isSame(object, policy)));
}

/**
 * Changed objects that stay on the hub, and those whose copies a deleted policy has left on members. Namespaces and
 * objects of the control plane need no policy.
 */
function unselected({ templates }: FleetPlan, applied: readonly Applied[]): string[] {
  return applied.flatMap(({ object, outcome }) => {
    if (
      outcome === "unchanged" ||
      object.kind === "Namespace" ||
      !isTemplateGroup(gvkOf(object).group) ||
      !isTemplate(object)
    )
      return [];
    const plan = templates.find(({ template }) => isSame(template, object));
    if (!plan) return [`${objectTitle(object)}: no policy selects it, so it is not propagated to members`];
    return isLeft(plan) ? [`${objectTitle(object)}: no policy selects it any longer: ${LEFT_COPIES}`] : [];
  });
}

/** No policy would select it, and members have copies from before. */
export const isLeft = ({ match, binding }: Pick<TemplatePlan, "match" | "binding">): boolean =>
  match.outcome === "none" &&
  binding !== undefined &&
  isLeftByPolicy(binding) &&
  Boolean(binding.spec.clusters?.length);

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
        `planning ${objectTitle(object)}: this kind is interpreted by webhook ${webhook}, which only the hub can reach; remove the object from the plan`,
      );
  }
}

/** As if the clusters had left: their copies no longer count and are shown as deleted. */
function withoutClusters(
  state: HubState,
  names: readonly string[],
): { state: HubState; gone: HubState["snapshot"]["works"] } {
  const { clusters, works } = state.snapshot;
  const known = clusters.map(({ metadata }) => metadata.name);
  const unknown = names.find((name) => !clusters.some(({ metadata }) => metadata.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `member '${unknown}' not found${didYouMean(unknown, known)}; the fleet has ${known.join(", ") || "none"}`,
    );
  if (names.length === 0) return { state, gone: [] };
  const namespaces = new Set(names.map(executionNamespace));
  // What a Job has finished there counts, so its copy stays in the plan until it is planned to be deleted.
  const [gone, staying] = partition(
    works,
    ({ metadata, spec }) =>
      namespaces.has(metadata.namespace ?? "") &&
      !(spec.workload?.manifests ?? []).some((manifest) => isJob(manifest as unknown as Object)),
  );
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
