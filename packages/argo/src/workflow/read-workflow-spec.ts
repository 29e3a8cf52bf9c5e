/**
 * Validates a Workflow. Argo has many more features than are supported here: an unsupported field is reported instead
 * of ignored, and the Workflow ends with the phase Error, as in Argo for an invalid one. Pure.
 */
import type { JsonObject } from "@flotilla/base";
import { tasksIn } from "./task-expressions.ts";
import { parseDurationMs } from "./workflow-durations.ts";
import type { ReadonlyTemplate, ReadonlyWorkflow } from "./workflow-names.ts";
import { taskOrder } from "./task-order.ts";
import { supportedSchema } from "./supported-schema.ts";

type Spec = ReadonlyWorkflow["spec"];
/** The supported part of a spec, or the first problem in it. */
export type ReadSpec = { spec: Spec } | { problem: string };

const known = new WeakMap<object, ReadSpec>();

/** Specs in informers are shared and immutable. */
export function readSpec({ spec }: { readonly spec?: Spec }): ReadSpec {
  if (!spec) return { problem: "spec is missing" };
  let found = known.get(spec);
  if (!found) known.set(spec, (found = check(spec)));
  return found;
}

function check(given: Spec): ReadSpec {
  const unknownFields: string[] = [];
  // Null fields are omitted from the admitted spec.
  const admitted = supportedSchema.admit({ spec: given } as unknown as JsonObject, { unknownFields });
  const [unknown] = unknownFields;
  if (unknown !== undefined) return { problem: `${unknown} is not supported by simulated members` };
  const [error] = supportedSchema.validate(admitted)?.values ?? [];
  if (error) return { problem: `${error.field}: ${error.message}` };
  const spec = admitted["spec"] as unknown as Spec;
  const problem = meaningProblem(spec);
  return problem === undefined ? { spec } : { problem };
}

function meaningProblem({ templates = [], entrypoint, onExit }: ReadonlyWorkflow["spec"]): string | undefined {
  const names = new Set(templates.map(({ name }) => name));
  return (
    (names.has(entrypoint) ? undefined : `template name '${entrypoint ?? ""}' undefined`) ??
    (onExit === undefined || names.has(onExit) ? undefined : `spec.onExit: template name '${onExit}' undefined`) ??
    (names.size === templates.length ? undefined : "the names of spec.templates are not unique") ??
    first(templates, (template) => templateProblem(`templates.${template.name ?? ""}`, template, names))
  );
}

function templateProblem(
  at: string,
  template: ReadonlyTemplate,
  names: ReadonlySet<string | undefined>,
): string | undefined {
  const sorts = (["container", "steps", "dag", "suspend"] as const).filter((sort) => template[sort] !== undefined);
  const { backoff } = template.retryStrategy ?? {};
  const durations = {
    "suspend.duration": template.suspend?.duration,
    "retryStrategy.backoff.duration": backoff?.duration,
    "retryStrategy.backoff.maxDuration": backoff?.maxDuration,
    "retryStrategy.backoff.cap": backoff?.cap,
  };
  const calls = [...(template.steps ?? []).flat(), ...(template.dag?.tasks ?? [])];
  return (
    (sorts.length === 1
      ? undefined
      : `${at} must have exactly one of container, steps, dag and suspend${sorts.length > 1 ? `, and has ${sorts.join(" and ")}` : ""}`) ??
    (backoff && backoff.duration === undefined ? `${at}: no base duration specified for retryStrategy` : undefined) ??
    first(Object.entries(durations), ([field, value]) =>
      value === undefined || value.includes("{{") || parseDurationMs(value) !== undefined
        ? undefined
        : `${at}.${field} '${value}' is not a duration`,
    ) ??
    first(calls, ({ name, template: called, ...step }) =>
      names.has(called)
        ? "withItems" in step && "withParam" in step
          ? `${at}.${name ?? ""} has both withItems and withParam`
          : undefined
        : `${at}.${name ?? ""}: template name '${called ?? ""}' undefined`,
    ) ??
    first(template.steps ?? [], (group) =>
      repeated(
        `${at}.steps`,
        group.map(({ name = "" }) => name),
      ),
    ) ??
    (template.dag && dagProblem(`${at}.dag`, template.dag))
  );
}

function dagProblem(at: string, { tasks, target = "" }: NonNullable<ReadonlyTemplate["dag"]>): string | undefined {
  const needs = new Map(tasks.map(({ name, dependencies, depends }) => [name, dependencies ?? tasksIn(depends ?? "")]));
  return (
    repeated(
      at,
      tasks.map(({ name }) => name),
    ) ??
    first(target.split(" ").filter(Boolean), (name) =>
      needs.has(name) ? undefined : `${at}.target: target '${name}' is not defined`,
    ) ??
    first(tasks, ({ name, dependencies, depends }) =>
      dependencies && depends !== undefined ? `${at}.tasks.${name} has both dependencies and depends` : undefined,
    ) ??
    first([...needs], ([name, list]) =>
      first(list, (need) => (needs.has(need) ? undefined : `${at}.tasks.${name} dependency '${need}' not defined`)),
    ) ??
    (taskOrder(needs) ? undefined : `${at}: the tasks have a dependency cycle`)
  );
}

function repeated(at: string, names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  return twice === undefined ? undefined : `${at}: name '${twice}' is not unique`;
}

function first<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
