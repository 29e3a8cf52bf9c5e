/**
 * SubjectAccessReview, LocalSubjectAccessReview and SelfSubjectAccessReview: return the authorizer's decision to
 * clients that check before they act.
 */
import { checkAccessReview, checkLocalAttributes } from "@flotilla/kubernetes";
import type { SubjectAccessReview } from "@flotilla/kubernetes";
import { isObject, omitZero } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { ApiError, field, invalid, parseFieldSelector, parseLabelSelector } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { Action, ActionDependencies, Answer, Input } from "./action.ts";
import type { AccessRequest } from "../request/authorize.ts";
import type { RequestContext } from "../request/context.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { UserInfo } from "../request/user-info.ts";
import { admitSent, readSent } from "./sent-object.ts";

const GROUP = "authorization.k8s.io";
type Spec = SubjectAccessReview["spec"];
type Attributes = NonNullable<Spec["resourceAttributes"]>;

export const subjectAccessReview: Action = {
  group: GROUP,
  resource: "subjectaccessreviews",
  run: (deps, context, input) => review(deps, context, input, "others"),
};
export const localSubjectAccessReview: Action = {
  group: GROUP,
  resource: "localsubjectaccessreviews",
  run: (deps, context, input) => review(deps, context, input, "others"),
};
export const selfSubjectAccessReview: Action = {
  group: GROUP,
  resource: "selfsubjectaccessreviews",
  run: (deps, context, input) => review(deps, context, input, "self"),
};

async function review(
  deps: ActionDependencies,
  context: RequestContext,
  input: Input,
  about: "others" | "self",
): Promise<Answer> {
  const sent = await readSent(context, input, { clock: deps.clock, facts: "authorization-v1" });
  const object = await admitSent(deps, context, sent, { allowed: false });
  const spec = object.spec as unknown as Spec;
  const errors = [...checkAccessReview(spec, about === "others"), ...checkPlace(object, context)];
  if (errors.length > 0) throw invalid(GROUP, "", "", errors);
  const request = requestOf(spec, context.cluster.name, about === "self" ? context.user : userOf(spec));
  const { allowed, reason, error, denied } = await deps.authorizer.decide(request);
  const problems = spec.resourceAttributes ? selectorErrors(spec.resourceAttributes) : [];
  if (error !== undefined) problems.push(error);
  const evaluationError = problems.join("; ");
  const status: JsonObject = {
    allowed,
    ...omitZero({ denied, reason, evaluationError }),
  };
  return { type: "object", object: { ...object, status }, code: 201 };
}

/** A review has no name and no other metadata. */
function checkPlace(object: JsonObject, { served, namespace = "" }: RequestContext): FieldError[] {
  const { namespaced } = served.resource;
  const metadata = metadataOf(object);
  const { managedFields: _, namespace: home, ...rest } = metadata;
  const errors: FieldError[] = [];
  if (Object.keys(rest).length > 0 || (!namespaced && home !== undefined))
    errors.push(
      field.invalid(
        "metadata",
        inGoOrder(metadata),
        namespaced ? "must be empty except for namespace" : "must be empty",
      ),
    );
  return namespaced ? [...errors, ...checkLocalAttributes(object.spec as unknown as Spec, namespace)] : errors;
}

const METADATA_ORDER = [
  "name",
  "generateName",
  "namespace",
  "resourceVersion",
  "generation",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/** Prints metadata as kube-apiserver does: fields in the order of the Go type, map keys sorted. */
function inGoOrder(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    METADATA_ORDER.filter((key) => metadata[key] !== undefined).map((key) => [
      key,
      key === "managedFields" ? sortFields(metadata[key]) : sortKeys(metadata[key] as Json),
    ]),
  );
}

function sortFields(entries: Json | undefined): Json[] {
  return Array.isArray(entries)
    ? entries.map((entry) => (isObject(entry) ? { ...entry, fieldsV1: sortKeys(entry.fieldsV1 ?? {}) } : entry))
    : [];
}

function sortKeys(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key] ?? null)]),
  );
}

function userOf({ user = "", groups = [], uid, extra }: Spec): UserInfo {
  return { name: user, groups, uid: uid || undefined, extra };
}

function requestOf(
  { resourceAttributes, nonResourceAttributes }: Spec,
  cluster: string,
  user: UserInfo,
): AccessRequest {
  if (!resourceAttributes)
    return { user, cluster, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  const { verb = "", group = "", resource = "", subresource, namespace, name } = resourceAttributes;
  return {
    user,
    cluster,
    verb,
    resource: {
      group,
      resource,
      subresource: subresource || undefined,
      namespace: namespace || undefined,
      name: name || undefined,
      fieldSelector: fieldSelectorOf(resourceAttributes.fieldSelector),
    },
  };
}

/** The readable requirements as a request would have them; undefined when there are none. */
function fieldSelectorOf({ rawSelector, requirements = [] }: Attributes["fieldSelector"] & object = {}):
  | string
  | undefined {
  if (rawSelector) return rawSelector;
  const terms = requirements.flatMap(({ key, operator, values = [] }) =>
    (operator === "In" || operator === "NotIn") && values.length === 1
      ? [`${key}${operator === "In" ? "=" : "!="}${(values[0] ?? "").replaceAll(/[\\,=]/g, String.raw`\$&`)}`]
      : [],
  );
  return terms.length === 0 ? undefined : terms.join(",");
}

/** Selectors narrow no rule of a role; the Node authorizer reads them. One that cannot be parsed is reported. */
function selectorErrors({ fieldSelector, labelSelector }: Attributes): string[] {
  const errors: string[] = [];
  const report = (what: string, good: number, bad: number): void => {
    if (bad > 0)
      errors.push(`spec.resourceAttributes.${what} ${good > 0 ? "partially " : ""}ignored due to parse error`);
  };
  if (fieldSelector?.rawSelector)
    report("fieldSelector", 0, isReadable(fieldSelector.rawSelector, parseFieldSelector) ? 0 : 1);
  else if (fieldSelector) {
    const good = (fieldSelector.requirements ?? []).filter(
      ({ operator, values = [] }) => (operator === "In" || operator === "NotIn") && values.length === 1,
    ).length;
    report("fieldSelector", good, (fieldSelector.requirements?.length ?? 0) - good);
  }
  if (labelSelector?.rawSelector)
    report("labelSelector", 0, isReadable(labelSelector.rawSelector, parseLabelSelector) ? 0 : 1);
  else if (labelSelector) {
    const good = (labelSelector.requirements ?? []).filter(({ operator }) => LABEL_OPERATORS.has(operator)).length;
    report("labelSelector", good, (labelSelector.requirements?.length ?? 0) - good);
  }
  return errors;
}

const LABEL_OPERATORS = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

function isReadable(text: string, parse: (text: string) => unknown): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}
