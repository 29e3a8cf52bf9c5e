/** How the kinds of this folder are put together from their facts. */
import type { DeepReadonly } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Admission, Review } from "./admission.ts";
import { canonicalObject } from "./canonical.ts";
import type { Column, Kind, KindVersion } from "./kind.ts";
import { definitionSchema, kindSchema } from "./facts.ts";
import type { KubernetesObject } from "./meta.ts";

type Names = Pick<Kind, "group" | "kind" | "plural" | "scope"> & Partial<Pick<Kind, "shortNames" | "categories" | "subresources" | "hasGeneration" | "singular" | "verbs" | "traits">>;

/** A kind of Kubernetes itself, served in one version. Its schema is read from the table `facts` on first use. */
export function builtInKind<T extends KubernetesObject>(names: Names & { version: string; facts: string; columns: Column[] }): Kind<T> {
  const { version, facts, columns, ...rest } = names;
  return {
    subresources: {},
    hasGeneration: false,
    ...rest,
    storageVersion: version,
    versions: { [version]: lazyVersion(columns, () => kindSchema(facts, names.kind)) },
    builtIn: true,
  };
}

/** A version whose schema is read when somebody asks for it. */
export function lazyVersion(columns: Column[], schema: () => KindVersion["schema"], rest: Omit<KindVersion, "schema" | "columns"> = {}): KindVersion {
  return {
    columns,
    ...rest,
    get schema() {
      return schema();
    },
  };
}

type CustomNames = Names & {
  storageVersion: string;
  /** `<plural>.<group>` in the fact tables. */
  facts: string;
  columns: Column[];
};

/** A kind of another project that a CustomResourceDefinition declares, served in its storage version. */
export function customKind<T extends KubernetesObject>(names: CustomNames): Kind<T> {
  const { facts, columns, storageVersion, ...rest } = names;
  return {
    subresources: {},
    hasGeneration: true,
    ...rest,
    storageVersion,
    versions: { [storageVersion]: lazyVersion(columns, () => definitionSchema(facts, storageVersion)) },
    builtIn: false,
  };
}

/** The age, as definitions declare it. */
export const AGE: Column = { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" };

/**
 * The admission that every built-in kind has: the canonical form, then the kind's own defaults, then its rules. A status
 * update carries the spec that is stored, so only the form is seen to.
 */
export function builtInAdmission<T extends KubernetesObject>(
  kind: Kind<T>,
  facts: string,
  rules: { complete?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>; validate?(review: Review<T>): FieldError[] } = {},
): Admission<T> {
  const { complete, validate } = rules;
  return {
    for: kind,
    on: ["CREATE", "UPDATE"],
    mutate(review) {
      const object = canonicalObject<T>(facts, kind.kind, review.object, review.settled);
      return complete && needsRules(review, object) ? complete(object, review) : object;
    },
    ...(validate && { validate: (review: Review<T>) => (needsRules(review, review.object) ? validate(review) : []) }),
  };
}

/** Rules look at names, labels, annotations and what lies outside of metadata; names never change. */
function needsRules<T extends KubernetesObject>({ subresource, settled }: Review<T>, object: DeepReadonly<T>): boolean {
  if (subresource === "status") return false;
  if (!settled) return true;
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  const { metadata: before } = settled as DeepReadonly<KubernetesObject>;
  if (metadata.labels !== before.labels || metadata.annotations !== before.annotations) return true;
  for (const key in object) if (key !== "metadata" && object[key as keyof typeof object] !== settled[key as keyof typeof settled]) return true;
  for (const key in settled) if (!Object.hasOwn(object, key)) return true;
  return false;
}
