/**
 * The order in which manifests are applied and planned: what others need or depend on first, and everything else as
 * given. Pure.
 *
 * Override policies and interpreter customizations come before policies, and policies before templates. So the first
 * copy on a member is the intended one, and a new template is not claimed by a policy that the same files replace.
 */
import {
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
} from "@flotilla/karmada";
import { CustomResourceDefinition, Namespace, PriorityClass } from "@flotilla/kubernetes";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { textOf } from "../members/json-parts.ts";

/** Without these, the hub accepts no objects of a namespace or kind. */
const NEEDED = [Namespace, CustomResourceDefinition];
const FIRST = [
  ...NEEDED,
  PriorityClass,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  ClusterOverridePolicy,
  OverridePolicy,
  PropagationPolicy,
  ClusterPropagationPolicy,
];

export function inApplyOrder<T extends JsonObject>(manifests: readonly T[]): T[] {
  const rankOf = (manifest: T): number => {
    const rank = FIRST.findIndex((kind) => isOf(kind, manifest));
    return rank < 0 ? FIRST.length : rank;
  };
  return manifests.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** A Namespace or a CustomResourceDefinition. */
export const isNeededFirst = (manifest: JsonObject): boolean => NEEDED.some((kind) => isOf(kind, manifest));

export const isDefinition = (manifest: JsonObject): boolean => isOf(CustomResourceDefinition, manifest);

const isOf = (
  { group, kind }: { readonly group: string; readonly kind: string },
  { apiVersion, kind: given }: JsonObject,
): boolean => given === kind && parseApiVersion(textOf(apiVersion)).group === group;
