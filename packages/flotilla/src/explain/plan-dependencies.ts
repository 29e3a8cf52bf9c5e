/**
 * Plans dependencies: the second half of a plan. It follows from the bindings planned in the first half, as the
 * dependency stage follows from the stored bindings.
 */
import { defined } from "@flotilla/base";
import { applyMergePatch, gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";
import { InterpretError, NAMESPACE_NAME_LABEL } from "@flotilla/kubernetes";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { createCompanions } from "../propagation/concerns/companions.ts";
import type { Companions } from "../propagation/concerns/companions.ts";
import { bindingConflict } from "../propagation/match/plan-binding.ts";
import { derivedNameProblem } from "../propagation/templates/derived-names.ts";
import {
  formatReferences,
  mayBeNeeded,
  needOf,
  placeOf,
  placesOf,
  referencesOf,
} from "../propagation/dependencies/references.ts";
import { planAttached } from "../propagation/dependencies/plan-attached.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { bindingOf, planCopies } from "./plan-template.ts";
import type { PlanningDependencies, TemplatePlan } from "./plan-template.ts";
import type { Binding } from "./planned-binding.ts";
import { placeOf as objectPlace } from "./snapshot.ts";
import { DEPENDENCIES } from "@flotilla/karmada";
import { UNMANAGED } from "../flotilla-names.ts";
import { runsSomewhere } from "../propagation/bindings/runs-somewhere.ts";

/**
 * Plans are keyed by `idOf` of their template; plans of dependencies are added or replaced. `objects` are all known
 * objects.
 */
export async function planDependencies(
  deps: PlanningDependencies & { interpreter: Pick<Interpreter, "dependencies"> },
  plans: Map<string, TemplatePlan>,
  objects: readonly Template[],
): Promise<void> {
  const companions = companionsAmong(objects, deps.interpreter);
  const byPlace = new Map<string, Binding[]>();
  for (const plan of plans.values()) {
    const binding = plan.binding && (await recordDependencies(deps.interpreter, companions, plan.binding, plan));
    if (!binding || !runsSomewhere(binding)) continue;
    for (const place of placesOf(referencesOf(binding))) {
      const there = byPlace.get(place);
      if (there) there.push(binding);
      else byPlace.set(place, [binding]);
    }
  }
  for (const object of objects) {
    const id = idOf(object);
    const plan = await attach(deps, object, plans.get(id), requirersOf(byPlace, object));
    if (plan) plans.set(id, plan);
  }
}

export function idOf(object: Template): string {
  const { group, kind } = gvkOf(object);
  return `${group}/${kind}/${objectPlace(object)}`;
}

/** The companions among the objects of a snapshot. A namespace that is not among them has the label with its name. */
function companionsAmong(objects: readonly Template[], interpreter: Pick<Interpreter, "dependencies">): Companions {
  const kindOf = (object: Pick<Template, "apiVersion" | "kind">): string =>
    `${parseApiVersion(object.apiVersion).group}/${object.kind}`;
  const byKind = Map.groupBy(objects, kindOf);
  const namespaces = new Map(byKind.get("/Namespace")?.map(({ metadata }) => [metadata.name, metadata.labels]));
  return createCompanions({
    interpreter,
    templates: {
      follow() {},
      isListed: () => true,
      list: (ref, namespace) =>
        (byKind.get(kindOf(ref)) ?? []).filter(({ metadata }) => !namespace || metadata.namespace === namespace),
    },
    labelsOf: (name) => ({ [NAMESPACE_NAME_LABEL]: name, ...namespaces.get(name) }),
  });
}

/** The binding, annotated with the dependencies of its resource. */
async function recordDependencies(
  interpreter: Pick<Interpreter, "dependencies">,
  companions: Pick<Companions, "dependenciesOf">,
  binding: Binding,
  { template, problems }: TemplatePlan,
): Promise<Binding> {
  if (!binding.spec.propagateDeps) return binding;
  const { [DEPENDENCIES]: _, [UNMANAGED]: _before, ...annotations } = binding.metadata.annotations ?? {};
  const unmanaged = template.metadata.annotations?.[UNMANAGED];
  try {
    const ofCompanions = (await companions.dependenciesOf(template)) ?? [];
    const all = [...(await interpreter.dependencies(template)), ...ofCompanions];
    const needed = all.filter(mayBeNeeded);
    if (needed.length > 0)
      Object.assign(annotations, { [DEPENDENCIES]: formatReferences(needed) }, defined({ [UNMANAGED]: unmanaged }));
    return { ...binding, metadata: { ...binding.metadata, annotations } };
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    problems.push(error.message);
    return binding;
  }
}

function requirersOf(byPlace: ReadonlyMap<string, readonly Binding[]>, object: Template): Binding[] {
  const where = { apiVersion: object.apiVersion, kind: object.kind, namespace: object.metadata.namespace ?? "" };
  const near = new Set([
    ...(byPlace.get(placeOf(where, object.metadata.name)) ?? []),
    ...(byPlace.get(placeOf(where)) ?? []),
  ]);
  return [...near].filter((binding) => needOf(binding, object) === "met");
}

/** Undefined when the object's binding does not change for the resources that depend on it. */
async function attach(
  deps: PlanningDependencies,
  object: Template,
  plan: TemplatePlan | undefined,
  requirers: readonly Binding[],
): Promise<TemplatePlan | undefined> {
  const before = plan?.before ?? bindingOf(deps.views, object);
  const existing = plan?.binding ?? before;
  const badName =
    requirers.length > 0
      ? derivedNameProblem(object.kind, object.metadata.namespace ?? "", object.metadata.name)
      : undefined;
  if (badName !== undefined) {
    const match = plan?.match ?? { outcome: "none" as const, reason: "no policy selects it" };
    return {
      template: object,
      match,
      works: { before: [], after: [] },
      problems: [...new Set([...(plan?.problems ?? []), badName])],
    };
  }
  if (existing && bindingConflict(existing, object)) return undefined;
  const attached = planAttached(object, requirers, existing);
  if (attached.action === "none") return undefined;
  const problems = [...(plan?.problems ?? [])];
  const worksBefore = before ? deps.views.worksOf(before) : [];
  const base: TemplatePlan = {
    template: object,
    match: plan?.match ?? { outcome: "none", reason: "no policy selects it" },
    before,
    works: { before: worksBefore, after: [] },
    problems,
  };
  if (attached.action === "delete" || (attached.action === "update" && !existing)) return base;
  const binding =
    attached.action === "create"
      ? attached.binding
      : (applyMergePatch(existing as unknown as Json, attached.patch) as unknown as Binding);
  const copies = await planCopies(deps, binding, plan?.template ?? object, worksBefore, problems);
  return {
    ...base,
    template: plan?.template ?? object,
    binding,
    ...defined({ schedule: plan?.schedule }),
    release: copies?.begins,
    works: { before: worksBefore, after: copies?.desired ?? worksBefore },
  };
}
