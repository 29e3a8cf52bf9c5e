/** The shared parts of ResourceBinding and ClusterResourceBinding: stored as v1alpha2, readable as v1alpha1. */
import { AGE, customKind, definitionSchema, describedKind, field, lazyVersion } from "@flotilla/apimachinery";
import type { FieldError, Kind, KubernetesObject, Review } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json } from "@flotilla/base";
import { fromStorage, toStorage } from "./binding-versions.ts";
import { DEPENDENCIES } from "../names/karmada-names.ts";

export const BINDING_TABLE = "work-karmada-v1alpha2";

export function bindingKind<T extends KubernetesObject>({
  descriptions,
  ...names
}: Pick<Kind, "kind" | "plural" | "shortNames" | "scope" | "descriptions">): Kind<T> {
  const facts = `${names.plural}.work.karmada.io`;
  const columns = [
    { name: "SCHEDULED", type: "string", jsonPath: '.status.conditions[?(@.type=="Scheduled")].status' } as const,
    { name: "FULLYAPPLIED", type: "string", jsonPath: '.status.conditions[?(@.type=="FullyApplied")].status' } as const,
    AGE,
  ];
  const kind = customKind<T>({
    ...names,
    group: "work.karmada.io",
    storageVersion: "v1alpha2",
    categories: ["karmada-io"],
    facts,
    columns,
    subresources: { status: true },
    traits: { untrackedByControllers: "root" },
  });
  return describedKind({
    ...kind,
    descriptions,
    versions: {
      ...kind.versions,
      v1alpha1: lazyVersion([], () => definitionSchema(facts, "v1alpha1"), { toStorage, fromStorage }),
    },
  });
}

export function checkDependencies<T extends KubernetesObject>({ object, byController }: Review<T>): FieldError[] {
  const text = (object as DeepReadonly<KubernetesObject>).metadata.annotations?.[DEPENDENCIES];
  if (text === undefined || byController || isDependencies(text)) return [];
  return [field.invalid(`metadata.annotations.${DEPENDENCIES}`, text, "annotation value must be a valid JSON")];
}

function isDependencies(text: string): boolean {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
  return value === null || (Array.isArray(value) && value.every(isReference));
}

/** Go decodes null as an absent value. */
function isReference(value: Json): boolean {
  if (value === null) return true;
  if (!isObject(value)) return false;
  const { labelSelector = null } = value;
  const texts = ["apiVersion", "kind", "namespace", "name"].map((path) => value[path] ?? null);
  return (
    texts.every((text) => text === null || typeof text === "string") &&
    (labelSelector === null || isObject(labelSelector))
  );
}
