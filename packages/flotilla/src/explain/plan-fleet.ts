/** Plans what the pipeline would do with a whole snapshot, and how that differs from the existing Works. */
import { HUB, isConditionTrue, withCondition } from "@flotilla/apimachinery";
import type { Namespace } from "@flotilla/kubernetes";
import type { Work } from "@flotilla/karmada";
import { compareText, equalJson, isObject, omitZero, defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { prune } from "../interpreter/prune.ts";
import type { LocatePods } from "../membership/locate-pods.ts";
import { createFleet } from "../propagation/schedule/fleet-view.ts";
import { isTemplate } from "../propagation/templates/templates.ts";
import { planNamespaceWorks } from "../propagation/namespaces/plan-namespace-works.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { compareFields } from "../fields/field-changes.ts";
import type { FieldChange } from "../fields/field-changes.ts";
import { isBookkeeping, isStamp } from "./explain-bookkeeping.ts";
import { withDefinitions } from "./delivered-definitions.ts";
import { idOf, planDependencies } from "./plan-dependencies.ts";
import { planTemplate } from "./plan-template.ts";
import type { PlanningInterpreter, TemplatePlan } from "./plan-template.ts";
import { placeOf, releasesOf, viewsOf } from "./snapshot.ts";
import type { FleetSnapshot } from "./snapshot.ts";
import { clusterNameOf, executionNamespace } from "@flotilla/karmada";
import { targetsOf } from "../propagation/bindings/target-clusters.ts";
import { rerunNote, runNote } from "./explain-runs.ts";
import { whyAway } from "../propagation/members/member-away.ts";
import { MEMBER_UNREACHABLE, NAMESPACE_LABEL } from "../flotilla-names.ts";

export interface FleetPlan {
  /** Sorted by kind, namespace and name. */
  templates: TemplatePlan[];
  /** Every Work that the fleet would have for the templates of the snapshot. */
  works: DeepReadonly<Work>[];
}

export interface PlanFleetOptions {
  interpreter: PlanningInterpreter & Pick<Interpreter, "dependencies">;
  nowMs: number;
  /** Asks members for pods that a template names. */
  locatePods?: LocatePods;
}

/** Reads the snapshot and writes nothing. The same snapshot yields the same plan. */
export async function planFleet(snapshot: FleetSnapshot, options: PlanFleetOptions): Promise<FleetPlan> {
  const first = await planOnce(snapshot, options);
  const clusters = withDefinitions(snapshot, first.works);
  const defined = clusters === snapshot.clusters ? snapshot : { ...snapshot, clusters };
  const plan = defined === snapshot ? first : await planOnce(defined, options);
  const works = withUndelivered(defined, plan);
  return works === defined.works ? plan : planOnce({ ...defined, works }, options);
}

/**
 * The Works as they are once the hub has tried to deliver the changes: those for members that are away fail, and dispatch
 * plans again without these members. The same list if none fails.
 */
function withUndelivered({ clusters, works }: FleetSnapshot, plan: FleetPlan): readonly DeepReadonly<Work>[] {
  const away = new Set(clusters.flatMap((cluster) => (whyAway(cluster) ? [cluster.metadata.name] : [])));
  if (away.size === 0) return works;
  const changed = new Set(
    planChanges(plan).flatMap((change) => {
      const before = away.has(change.cluster) && change.action === "update" ? worksOf(plan, change).before : undefined;
      return before && isConditionTrue(before.status?.conditions, "Applied") ? [placeOf(before)] : [];
    }),
  );
  if (changed.size === 0) return works;
  return works.map((work) => (changed.has(placeOf(work)) ? withFailedDelivery(work) : work));
}

function withFailedDelivery(work: DeepReadonly<Work>): DeepReadonly<Work> {
  const failed = {
    type: "Applied",
    status: "False",
    reason: MEMBER_UNREACHABLE,
    message: "the member is away",
  } as const;
  return {
    ...work,
    status: { ...work.status, conditions: [...withCondition(work.status?.conditions ?? [], failed, "")] },
  };
}

async function planOnce(
  snapshot: FleetSnapshot,
  { interpreter, nowMs, locatePods }: PlanFleetOptions,
): Promise<FleetPlan> {
  const views = viewsOf(snapshot, HUB, locatePods);
  const releases = releasesOf(snapshot);
  const fleet = createFleet(snapshot.clusters);
  const stored = new Map(
    (snapshot.stored ?? []).map((template) => [`${template.apiVersion} ${idOf(template)}`, template]),
  );
  const storedOf = (template: Template): Template | undefined => stored.get(`${template.apiVersion} ${idOf(template)}`);
  const objects = dedupeTemplates(snapshot.templates);
  const plans = new Map<string, TemplatePlan>();
  const deps = { views, releases, interpreter, nowMs, fleet, storedOf, evicts: true };
  const planNext = async (template: Template): Promise<TemplatePlan> => {
    const plan = await planTemplate(deps, template);
    if (plan.binding) {
      // Later templates of the same workload groups see where this one was placed, and what quotas have left.
      views.groups.see(views.hub, plan.binding);
      views.quotaRoom.note(plan.before, plan.binding);
    }
    // An object that is not propagated exists only on the hub.
    if (plan.binding || plan.match.outcome === "matched") plans.set(idOf(template), plan);
    return plan;
  };
  const refused: Template[] = [];
  for (const template of objects) if ((await planNext(template)).isOverQuota) refused.push(template);
  // What others give back may have room for them.
  for (const template of refused) await planNext(template);
  await planDependencies({ views, releases, interpreter, nowMs, fleet }, plans, objects);
  const templates = [...plans.values()].sort((a, b) =>
    compareText(`${a.template.kind} ${placeOf(a.template)}`, `${b.template.kind} ${placeOf(b.template)}`),
  );
  return { templates, works: templates.flatMap(({ works }) => [...works.after]) };
}

/** An object read in several versions is one template; the first version read is used. */
function dedupeTemplates(templates: readonly Template[]): Template[] {
  const seen = new Map<string, Template>();
  for (const template of templates) {
    const id = idOf(template);
    if (!seen.has(id) && !template.metadata.deletionTimestamp && isTemplate(template)) seen.set(id, template);
  }
  return [...seen.values()];
}

/** A change of one object on one member. */
export interface MemberChange {
  cluster: string;
  action: "create" | "update" | "delete";
  object: { apiVersion: string; kind: string; namespace?: string; name: string };
  /**
   * For an update, the changed fields; for a new copy, the differences from its template. Fields that each server sets
   * itself are not differences.
   */
  fields: FieldChange[];
  more?: number;
  note?: string;
}

/** The objects of a plan, with the Works that they have and would get. */
export interface PlannedWorks {
  templates: readonly Pick<TemplatePlan, "template" | "works">[];
}

/** The Works of the changed object on its member: the one that it has now, and the one that it would get. */
export function worksOf(
  { templates }: PlannedWorks,
  { cluster, object: { apiVersion, kind, namespace, name } }: MemberChange,
): { before?: DeepReadonly<Work>; after?: DeepReadonly<Work> } {
  const id = idOf({ apiVersion, kind, metadata: { namespace, name } });
  const works = templates.find(({ template }) => idOf(template) === id)?.works;
  const workIn = (all: readonly DeepReadonly<Work>[] = []): DeepReadonly<Work> | undefined =>
    all.find(({ metadata }) => metadata.namespace === executionNamespace(cluster));
  return { before: workIn(works?.before), after: workIn(works?.after) };
}

/** `gone` are Works of removed clusters, which the plan does not include. */
export function planChanges(plan: FleetPlan, gone: readonly DeepReadonly<Work>[] = []): MemberChange[] {
  const goneById = Map.groupBy(
    gone.filter(({ metadata }) => !metadata.labels?.[NAMESPACE_LABEL]),
    (work) => idOfManifest(work),
  );
  return plan.templates
    .flatMap(({ template, works, binding, replacesRun, departures = [], isExpired }) => {
      const before = [...works.before, ...(goneById.get(idOf(template)) ?? [])];
      if (replacesRun) return planReplaced(before, works.after, template);
      const changes = compareWorks(before, works.after, template).map((change) =>
        withDepartureNote(change, departures),
      );
      if (isExpired) return changes.map((change) => ({ ...change, note: change.note ?? EXPIRED }));
      // A run that begins is not worth a note.
      return before.length === 0 ? changes : changes.map((change) => withRunNote(change, works.after, binding));
    })
    .sort((a, b) => compareText(keyOf(a), keyOf(b)));
}

const EXPIRED = "it has finished, and its time to live has passed";

/**
 * Copies of templates with a Retain rule that the hub writes again although only its own labels and annotations change:
 * the rule then runs on them.
 */
export function rewrittenCopies({ templates }: FleetPlan, hasRule: (template: Template) => boolean): MemberChange[] {
  return templates.flatMap(({ template, works }) => {
    if (!hasRule(template)) return [];
    const old = new Map(works.before.map((work) => [placeOf(work), work]));
    return works.after.flatMap((after) => {
      const before = old.get(placeOf(after));
      const manifest = manifestOf(after);
      const cluster = clusterNameOf(after.metadata.namespace ?? "");
      if (!before || !manifest || cluster === undefined || after.spec.suspendDispatching) return [];
      if (equalJson(manifestOf(before) ?? null, manifest)) return [];
      const isChanged = compareFields(shown(before), shown(after), isBookkeeping).fields.length > 0;
      return isChanged ? [] : [{ ...headOf(cluster, manifest), action: "update" as const, fields: [] }];
    });
  });
}

/** Of an object that runs once, with copies of a deleted one: each is created again, also if no field changes. */
function planReplaced(
  before: readonly DeepReadonly<Work>[],
  after: readonly DeepReadonly<Work>[],
  template: Template,
): MemberChange[] {
  const had = new Set(before.map(placeOf));
  const replaced = compareWorks([], after, template).map((change): MemberChange =>
    had.has(`${executionNamespace(change.cluster)}/${nameIn(after, change.cluster)}`)
      ? {
          ...change,
          action: "update",
          fields: [],
          note: "the finished one with this name is deleted, and this one runs",
        }
      : change,
  );
  const kept = new Set(after.map(placeOf));
  return [
    ...replaced,
    ...compareWorks(
      before.filter((work) => !kept.has(placeOf(work))),
      [],
      template,
    ),
  ];
}

const nameIn = (works: readonly DeepReadonly<Work>[], cluster: string): string =>
  works.find(({ metadata }) => metadata.namespace === executionNamespace(cluster))?.metadata.name ?? "";

/** Says why the copy leaves, and when. */
function withDepartureNote(change: MemberChange, departures: NonNullable<TemplatePlan["departures"]>): MemberChange {
  const left = change.action === "delete" ? departures.find(({ cluster }) => cluster === change.cluster) : undefined;
  return left && change.note === undefined ? { ...change, note: left.note } : change;
}

function withRunNote(
  change: MemberChange,
  after: readonly DeepReadonly<Work>[],
  binding: TemplatePlan["binding"],
): MemberChange {
  if (change.note !== undefined) return change;
  if (change.action === "delete" && binding && targetsOf(binding.spec).some(({ name }) => name === change.cluster))
    return { ...change, note: rerunNote(change.object) };
  if (change.action !== "create") return change;
  const namespace = executionNamespace(change.cluster);
  const work = after.find(({ metadata }) => metadata.namespace === namespace);
  const manifest = work && manifestOf(work);
  return manifest ? { ...change, note: runNote(binding, manifest) } : change;
}

function idOfManifest(work: DeepReadonly<Work>): string {
  const manifest = manifestOf(work);
  return manifest ? idOf(manifest) : "";
}

/** Namespaces are propagated to every member automatically, so a new one is a change too. */
export function planNamespaces(
  snapshot: FleetSnapshot,
  namespaces: readonly DeepReadonly<Namespace>[],
): PlannedWorks["templates"] {
  const { render } = viewsOf(snapshot);
  return namespaces.flatMap((namespace) => {
    const plan = planNamespaceWorks(namespace, snapshot.clusters, render);
    if (plan === "leave") return [];
    const names = new Set(plan.works.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`));
    // Every API server adds the finalizer to its namespaces itself, so it is not a difference.
    const { spec: _spec, ...template } = namespace;
    const before = snapshot.works.filter((work) => names.has(placeOf(work)));
    return [{ template, works: { before, after: plan.works } }];
  });
}

export const planNamespaceChanges = (namespaces: PlannedWorks["templates"]): MemberChange[] =>
  namespaces.flatMap(({ template, works }) => compareWorks(works.before, works.after, template));

const keyOf = ({ cluster, object }: MemberChange): string =>
  `${cluster} ${object.kind} ${object.namespace ?? ""}/${object.name}`;

function compareWorks(
  before: readonly DeepReadonly<Work>[],
  after: readonly DeepReadonly<Work>[],
  template: Template,
): MemberChange[] {
  const [old, next] = [
    new Map(before.map((work) => [placeOf(work), work])),
    new Map(after.map((work) => [placeOf(work), work])),
  ];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((place) =>
    compareWork(old.get(place), next.get(place), template),
  );
}

function compareWork(
  before: DeepReadonly<Work> | undefined,
  after: DeepReadonly<Work> | undefined,
  template: Template,
): MemberChange[] {
  const work = after ?? before;
  const manifest = work && manifestOf(work);
  const cluster = clusterNameOf(work?.metadata.namespace ?? "");
  if (!manifest || cluster === undefined) return [];
  const head = headOf(cluster, manifest);
  if (!after)
    return [
      {
        ...head,
        action: "delete",
        fields: [],
        note: work?.spec.preserveResourcesOnDeletion
          ? "it keeps running there: the policy preserves resources on deletion"
          : undefined,
      },
    ];
  const suspended = after.spec.suspendDispatching
    ? { note: "dispatching is suspended: the member receives the change when dispatching resumes" }
    : {};
  const { fields, more } = compareFields(
    before ? shown(before) : comparable(prune(template)),
    before ? shown(after) : comparable(manifest),
    before ? isBookkeeping : isStamp,
  );
  if (!before) return [{ ...head, action: "create", fields, more: more > 0 ? more : undefined, ...suspended }];
  return fields.length === 0
    ? []
    : [{ ...head, action: "update", fields, more: more > 0 ? more : undefined, ...suspended }];
}

const headOf = (
  cluster: string,
  { apiVersion, kind, metadata }: Template,
): Pick<MemberChange, "cluster" | "object"> => ({
  cluster,
  object: { apiVersion, kind, namespace: metadata.namespace || undefined, name: metadata.name },
});

const manifestOf = ({ spec }: DeepReadonly<Work>): Template | undefined =>
  spec.workload?.manifests?.[0] as unknown as Template | undefined;

/** The manifest and the delivery settings of the Work. */
function shown(work: DeepReadonly<Work>): JsonObject {
  const { suspendDispatching, preserveResourcesOnDeletion } = work.spec;
  return {
    ...(manifestOf(work) as unknown as JsonObject),
    ...omitZero({ suspendDispatching, preserveResourcesOnDeletion }),
  };
}

/** The part of a template that its copies have as well. */
function comparable(template: Template): JsonObject {
  const { status: _, metadata, ...rest } = template as unknown as JsonObject;
  const { labels, annotations } = isObject(metadata) ? metadata : {};
  return {
    ...rest,
    metadata: defined({
      labels: isObject(labels) ? labels : undefined,
      annotations: isObject(annotations) ? annotations : undefined,
    }),
  };
}
