/**
 * The part of a template that a release is about: the pod template of a workload, the template of a scheduled Job, or all
 * fields of other kinds. The rest, such as replicas and update budgets, takes effect at once. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { digestOf } from "@flotilla/openkruise";

type Template = DeepReadonly<KubernetesObject>;

const TEMPLATE_FIELDS = ["template", "jobTemplate"] as const;
/** Not part of what an object says. */
const OTHERS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

function templateFieldOf(template: Template): (typeof TEMPLATE_FIELDS)[number] | undefined {
  const { spec } = template as { spec?: unknown };
  return isObject(spec) ? TEMPLATE_FIELDS.find((name) => isObject(spec[name])) : undefined;
}

const parts = new WeakMap<Template, Json>();

/** The same object for the same template, so that its digest is computed once. */
export function releasedPart(template: Template): Json {
  const known = parts.get(template);
  if (known !== undefined) return known;
  const field = templateFieldOf(template);
  const part: Json = field
    ? ((template as unknown as { spec: JsonObject }).spec[field] as Json)
    : (Object.fromEntries(Object.entries(template).filter(([name]) => !OTHERS.has(name))) as JsonObject);
  parts.set(template, part);
  return part;
}

export const releaseDigest = (template: Template): string => digestOf(releasedPart(template));

/** The template as it is now, with another revision of the part. */
export function withReleasedPart<T extends Template>(template: T, part: Json): T {
  if (part === releasedPart(template)) return template;
  const field = templateFieldOf(template);
  if (field) return { ...template, spec: { ...(template as { spec?: JsonObject }).spec, [field]: part } };
  if (!isObject(part)) return template;
  const { apiVersion, kind, metadata } = template;
  const { status } = template as { status?: Json };
  return { apiVersion, kind, metadata, ...part, ...defined({ status }) } as unknown as T;
}
