/**
 * What a binding says that its resource needs: references by name or by labels, kept as JSON in an annotation that
 * Karmada defined. They are filed by what they name, so that a change of an object leads to the bindings that need it.
 */
import { parseApiVersion } from "../../api/index.ts";
import type { KubernetesObject, ResourceBinding } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Dependency } from "../../interpreter/index.ts";
import { compileLabelSelector } from "../label-selector.ts";
import { isOwnNamespace, isTemplate, isTemplateGroup } from "../templates.ts";
import { DEPENDENCIES, SHARED_WITH } from "../well-known.ts";

export type Reference = DeepReadonly<Dependency>;

/** More than this a resource does not need; a rule that says otherwise is wrong. */
const MAX_REFERENCES = 1000;

/**
 * Only what may leave the hub: neither the control planes' own kinds, nor anything in the namespaces that are every
 * cluster's own business, or hold the members' credentials. A reference without a name and without labels is about
 * nothing.
 */
export function mayBeNeeded({ apiVersion, namespace = "", name, labelSelector }: Reference): boolean {
  return (
    isTemplateGroup(parseApiVersion(apiVersion).group) &&
    !isOwnNamespace(namespace) &&
    (Boolean(name) || labelSelector !== undefined)
  );
}

/** In the order and with the fields that Karmada writes. */
export function formatReferences(references: readonly Reference[]): string {
  return JSON.stringify(
    references.map(({ apiVersion, kind, namespace, name, labelSelector }) => ({
      apiVersion,
      kind,
      namespace: namespace || undefined,
      name: name || undefined,
      labelSelector,
    })),
  );
}

const NONE: readonly Reference[] = [];
/** Parsed once per version of a binding: the index asks for the old and the new one at every change. */
const parsed = new WeakMap<DeepReadonly<ResourceBinding>, readonly Reference[]>();

/** What the binding's resource needs; nothing while dependencies are not asked for, or it is going. */
export function referencesOf(binding: DeepReadonly<ResourceBinding>): readonly Reference[] {
  const text = binding.metadata.annotations?.[DEPENDENCIES];
  if (text === undefined || !binding.spec.propagateDeps || binding.metadata.deletionTimestamp) return NONE;
  let references = parsed.get(binding);
  if (!references) parsed.set(binding, (references = parse(text)));
  return references;
}

function parse(text: string): readonly Reference[] {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return NONE;
    return (list.slice(0, MAX_REFERENCES) as unknown[]).filter(isReference).filter(mayBeNeeded);
  } catch (error) {
    if (error instanceof SyntaxError) return NONE; // Written over by hand; the stage writes it anew.
    throw error;
  }
}

function isReference(value: unknown): value is Reference {
  if (!isObject(value)) return false;
  const { apiVersion, kind, namespace = "", name = "", labelSelector = {} } = value;
  return [apiVersion, kind, namespace, name].every((text) => typeof text === "string") && isObject(labelSelector);
}

/** Under what a reference is filed: the object that it names, or all objects of a kind in a namespace. */
export function placesOf(references: readonly Reference[]): string[] {
  return references.map((reference) => (reference.name ? placeOf(reference, reference.name) : placeOf(reference)));
}

/** Versions of a kind are one object, so they do not count. */
export function placeOf(
  { apiVersion, kind, namespace = "" }: Pick<Reference, "apiVersion" | "kind" | "namespace">,
  name = "",
): string {
  return `${parseApiVersion(apiVersion).group}/${kind}/${namespace}/${name}`;
}

export function refersTo(
  reference: Reference,
  object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: {
      readonly namespace?: string;
      readonly name: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
  },
): boolean {
  const { metadata } = object;
  if (placeOf(reference) !== placeOf({ ...object, namespace: metadata.namespace ?? "" })) return false;
  if (reference.name) return reference.name === metadata.name;
  return compileLabelSelector(reference.labelSelector ?? {})(metadata.labels);
}

/** `withheld`: it is needed, and is not for the namespace of what needs it to take. */
export type Need = "none" | "withheld" | "met";

/**
 * What a binding's resource has to do with an object. A reference comes from what is in a template, and whoever may
 * write one namespace's templates must not thereby send another namespace's Secrets to members: their owner has to say
 * so.
 */
export function needOf(binding: DeepReadonly<ResourceBinding>, object: DeepReadonly<KubernetesObject>): Need {
  if (
    binding.spec.resource.uid === object.metadata.uid ||
    !referencesOf(binding).some((reference) => refersTo(reference, object))
  )
    return "none";
  return isTemplate(object) && isSharedWith(object, binding.metadata.namespace) ? "met" : "withheld";
}

/** What is in no namespace is made by those who answer for the whole hub. */
function isSharedWith({ metadata }: DeepReadonly<KubernetesObject>, namespace: string | undefined): boolean {
  if (!namespace || namespace === metadata.namespace) return true;
  return (
    metadata.annotations?.[SHARED_WITH]?.split(",").some((name) => ["*", namespace].includes(name.trim())) ?? false
  );
}
