/** Builds the kinds of this folder from the fact tables. */
import { required, type DeepReadonly } from "@flotilla/base";
import type { FieldError } from "../field.ts";
import type { Admission, Review } from "./admission.ts";
import { canonicalObject } from "./canonical.ts";
import { describedKind } from "./descriptions.ts";
import type { Column, Kind, KindVersion } from "./kind.ts";
import { definitionSchema, kindSchema } from "./facts.ts";
import type { KubernetesObject } from "./meta.ts";

type Names = Pick<Kind, "group" | "kind" | "plural" | "scope"> &
  Partial<
    Pick<
      Kind,
      | "shortNames"
      | "categories"
      | "subresources"
      | "hasGeneration"
      | "singular"
      | "verbs"
      | "traits"
      | "storedAs"
      | "workload"
      | "descriptions"
    >
  >;

/** A built-in Kubernetes kind, served in one version. Its schema is read from the table `facts` on first use. */
export function builtInKind<T extends KubernetesObject>(
  names: Names & { version: string; facts: string; columns: Column[]; deprecationWarning?: string },
): Kind<T> {
  const { version, facts, columns, deprecationWarning, ...rest } = names;
  return describedKind({
    ...rest,
    subresources: rest.subresources ?? {},
    hasGeneration: rest.hasGeneration ?? false,
    storageVersion: version,
    versions: {
      [version]: builtInVersion(columns, facts, names.kind, {
        deprecationWarning,
      }),
    },
    builtIn: true,
  });
}

/** A version of a built-in kind. Its schema is read from the table `facts` on first use. */
export const builtInVersion = (
  columns: Column[],
  facts: string,
  kind: string,
  rest: Omit<KindVersion, "schema" | "columns" | "facts"> = {},
): KindVersion => lazyVersion(columns, () => kindSchema(facts, kind), { ...rest, facts });

/** A version whose schema is read on first use. */
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

/** A custom kind of another project, served in its storage version. */
export function customKind<T extends KubernetesObject>(names: CustomNames): Kind<T> {
  const { facts, columns, storageVersion, ...rest } = names;
  return describedKind({
    ...rest,
    subresources: rest.subresources ?? {},
    hasGeneration: rest.hasGeneration ?? true,
    storageVersion,
    versions: { [storageVersion]: lazyVersion(columns, () => definitionSchema(facts, storageVersion)) },
    builtIn: false,
  });
}

/** The age column, as CRDs declare it. */
export const AGE: Column = { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" };

/**
 * The admission of every built-in kind: canonical form, then the kind's defaults, then its validation. A status update
 * carries the stored spec, so only the form is checked.
 */
export function builtInAdmission<T extends KubernetesObject>(
  kind: Kind<T>,
  /** The fact table, or one for each version. */
  facts: string | Readonly<Record<string, string>>,
  rules: {
    complete?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    prepare?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    validate?(review: Review<T>): FieldError[];
    /** Defaults for an update of the status subresource. */
    completeStatus?(object: DeepReadonly<T>, review: Review<T>): DeepReadonly<T>;
    /** Validates an update of the status subresource; the spec is the stored one. */
    validateStatus?(review: Review<T>): FieldError[];
    warnings?(review: Review<T>): readonly string[];
  } = {},
): Admission<T> {
  const { complete, completeStatus, prepare, validate, validateStatus, warnings } = rules;
  const tableOf = (version: string): string =>
    typeof facts === "string" ? facts : required(facts[version], `the fact table of ${kind.kind} ${version}`);
  return {
    name: `${kind.kind}Rules`,
    for: kind,
    on: ["CREATE", "UPDATE"],
    isReinvoked: true,
    decode: (version, sent, known) => void canonicalObject<T>(tableOf(version), kind.kind, sent, known),
    mutate(review) {
      const object = canonicalObject<T>(tableOf(review.version), kind.kind, review.object, review.settled);
      if (review.subresource === "status") return completeStatus ? completeStatus(object, review) : object;
      return complete && needsRules(review, object) ? complete(object, review) : object;
    },
    prepare: prepare
      ? (review: Review<T>) => (needsRules(review, review.object) ? prepare(review.object, review) : review.object)
      : undefined,
    validate:
      validate || validateStatus
        ? (review: Review<T>) => {
            if (review.subresource === "status") return validateStatus?.(review) ?? [];
            return validate && needsRules(review, review.object) ? validate(review) : [];
          }
        : undefined,
    warnings,
  };
}

/** Validation reads names, labels, annotations and everything outside metadata; names are immutable. */
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
