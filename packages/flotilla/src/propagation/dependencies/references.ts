/**
 * The references of a binding's resource, by name or by labels, stored as JSON in an annotation that Karmada defines.
 * They are indexed by target, so that a change of an object leads to the bindings that need it.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Dependency } from "@flotilla/kubernetes";
import { isInjecting } from "../concerns/companions.ts";
import { compileLabelSelector } from "../policies/label-selector.ts";
import { isOwnNamespace, isTemplate, isTemplateGroup } from "../templates/templates.ts";
import { DEPENDENCIES } from "@flotilla/karmada";
import { SHARED_WITH } from "../../flotilla-names.ts";
export type Reference = DeepReadonly<Dependency>;

/** No real resource has more references; an interpreter rule that returns more is wrong. */
const MAX_REFERENCES = 1000;

/**
 * Only objects that may leave the hub: neither the control planes' own kinds, nor objects in system namespaces or in
 * namespaces with the members' credentials. A reference without a name and without labels matches nothing.
 */
export function mayBeNeeded({ apiVersion, namespace = "", name, labelSelector }: Reference): boolean {
  return (
    isTemplateGroup(parseApiVersion(apiVersion).group) &&
    !isOwnNamespace(namespace) &&
    (Boolean(name) || labelSelector !== undefined)
  );
}

/** In Karmada's order and with Karmada's fields. */
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
/** Parsed once per version of a binding: the index reads the old and the new one at every change. */
const parsed = new WeakMap<DeepReadonly<ResourceBinding>, readonly Reference[]>();

/** The references of the binding's resource; none without `propagateDeps`, or while it is being deleted. */
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
    if (error instanceof SyntaxError) return NONE; // Overwritten by a user; the stage writes it again.
    throw error;
  }
}

function isReference(value: unknown): value is Reference {
  if (!isObject(value)) return false;
  const { apiVersion, kind, namespace = "", name = "", labelSelector = {} } = value;
  return [apiVersion, kind, namespace, name].every((text) => typeof text === "string") && isObject(labelSelector);
}

/** Index keys of references: the named object, or all objects of a kind in a namespace. */
export function placesOf(references: readonly Reference[]): string[] {
  return references.map((reference) => (reference.name ? placeOf(reference, reference.name) : placeOf(reference)));
}

/** Versions are omitted, because all versions of a kind are one object. */
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

/** `withheld`: the object is needed, but the namespace of the requirer has no access to it. */
export type Need = "none" | "withheld" | "met";

/**
 * The need of a binding's resource for an object. References come from templates, and a user who may write templates in
 * one namespace must not thereby send another namespace's Secrets to members: the owner of the object must allow it.
 */
export function needOf(binding: DeepReadonly<ResourceBinding>, object: DeepReadonly<KubernetesObject>): Need {
  if (
    binding.spec.resource.uid === object.metadata.uid ||
    !referencesOf(binding).some((reference) => refersTo(reference, object))
  )
    return "none";
  return isTemplate(object) && isSharedWith(object, binding.metadata.namespace) ? "met" : "withheld";
}

/**
 * Cluster-scoped templates are created by administrators of the whole hub. Who writes a SidecarSet decides in it which
 * pods get its containers.
 */
function isSharedWith(
  { apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>,
  namespace: string | undefined,
): boolean {
  if (!namespace || namespace === metadata.namespace || isInjecting({ apiVersion, kind })) return true;
  return (
    metadata.annotations?.[SHARED_WITH]?.split(",").some((name) => ["*", namespace].includes(name.trim())) ?? false
  );
}
