/** How the kinds of this folder are put together from their facts. */
import { required, type DeepReadonly } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Admission, Review } from "./admission.ts";
import { canonicalObject } from "./canonical.ts";
import type { Column, Kind, KindVersion } from "./kind.ts";
import { definitionSchema, kindSchema } from "./facts.ts";
import type { KubernetesObject } from "./meta.ts";

type Names = Pick<Kind, "group" | "kind" | "plural" | "scope"> &
  Partial<
    Pick<
      Kind,
      "shortNames" | "categories" | "subresources" | "hasGeneration" | "singular" | "verbs" | "traits" | "storedAs"
    >
  >;

/** A kind of Kubernetes itself, served in one version. Its schema is read from the table `facts` on first use. */
export function builtInKind<T extends KubernetesObject>(
  names: Names & { version: string; facts: string; columns: Column[]; deprecationWarning?: string },
): Kind<T> {
  const { version, facts, columns, deprecationWarning, ...rest } = names;
  return {
    ...rest,
    subresources: rest.subresources ?? {},
    hasGeneration: rest.hasGeneration ?? false,
    storageVersion: version,
    versions: {
      [version]: lazyVersion(columns, () => kindSchema(facts, names.kind), {
        ...(deprecationWarning !== undefined && { deprecationWarning }),
      }),
    },
    builtIn: true,
  };
}

/** A version whose schema is read when somebody asks for it. */
export function lazyVersion(
  columns: Column[],
  schema: () => KindVersion["schema"],
  rest: Omit<KindVersion, "schema" | "columns"> = {},
): KindVersion {
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
    ...rest,
    subresources: rest.subresources ?? {},
    hasGeneration: rest.hasGeneration ?? true,
    storageVersion,
    versions: { [storageVersion]: lazyVersion(columns, () => definitionSchema(facts, storageVersion)) },
    builtIn: false,
  };
}

/** The age, as definitions declare it. */
export const AGE: Column = { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" };

/**
 * The admission that every built-in kind has: the canonical form, then the kind's own defaults, then its rules. A
 * status update carries the spec that is stored, so only the form is seen to.
 */
export function builtInAdmission<T extends KubernetesObject>(
  kind: Kind<T>,
  /** The fact table, or one for each version. */
  facts: string | Readonly<Record<string, string>>,
  rules: {
    complete?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    prepare?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    validate?(review: Review<T>): FieldError[];
    /** Defaults of what an update of the status subresource sends. */
    completeStatus?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    /** What an update of the status subresource must obey; the spec is the stored one then. */
    validateStatus?(review: Review<T>): FieldError[];
    warnings?(review: Review<T>): readonly string[];
  } = {},
): Admission<T> {
  const { complete, completeStatus, prepare, validate, validateStatus, warnings } = rules;
  return {
    for: kind,
    on: ["CREATE", "UPDATE"],
    mutate(review) {
      const table =
        typeof facts === "string"
          ? facts
          : required(facts[review.version], `the fact table of ${kind.kind} ${review.version}`);
      const object = canonicalObject<T>(table, kind.kind, review.object, review.settled);
      if (review.subresource === "status") return completeStatus ? completeStatus(object, review) : object;
      return complete && needsRules(review, object) ? complete(object, review) : object;
    },
    ...(prepare && {
      prepare: (review: Review<T>) =>
        needsRules(review, review.object) ? prepare(review.object, review) : review.object,
    }),
    ...((validate || validateStatus) && {
      validate(review: Review<T>) {
        if (review.subresource === "status") return validateStatus?.(review) ?? [];
        return validate && needsRules(review, review.object) ? validate(review) : [];
      },
    }),
    ...(warnings && { warnings }),
  };
}

/** Rules look at names, labels, annotations and what lies outside of metadata; names never change. */
function needsRules<T extends KubernetesObject>({ subresource, settled }: Review<T>, object: DeepReadonly<T>): boolean {
  if (subresource === "status") return false;
  if (!settled) return true;
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  const { metadata: before } = settled as DeepReadonly<KubernetesObject>;
  if (metadata.labels !== before.labels || metadata.annotations !== before.annotations) return true;
  for (const key in object)
    if (key !== "metadata" && object[key as keyof typeof object] !== settled[key as keyof typeof settled]) return true;
  for (const key in settled) if (!Object.hasOwn(object, key)) return true;
  return false;
}
