/**
 * Emulates Karmada's webhooks: they decode an object as a Go struct, default it and write the result; after schema
 * validation they validate it. They do not receive status updates.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { decodedPart, deniedByWebhook, parseApiVersion } from "@flotilla/apimachinery";
import type { Admission, FieldError, Kind, KubernetesObject, Operation, Review } from "@flotilla/apimachinery";

type Read<T> = DeepReadonly<T>;

export interface KarmadaRules<T> {
  /** The defaulting and the validating webhook share one name: `overridepolicy.karmada.io`. */
  name: string;
  /** Set for kinds with a defaulting webhook. */
  completes?: {
    /** The fact table for decoding the object. */
    table: string;
    /** Unset: on every write. */
    on?: Operation;
    /** The server's own controllers write objects in stored form, so those are not decoded again. */
    skipsOwnWrites?: true;
    complete?(object: Read<T>, review: Review<T>): Read<T>;
  };
  check?(review: Review<T>): FieldError[];
  /** Warnings for a valid object. */
  warnings?(review: Review<T>): readonly string[];
}

const FORBIDDEN = "Forbidden";

export function karmadaAdmission<T extends KubernetesObject>(
  kind: Kind<T>,
  { name, completes, check, warnings }: KarmadaRules<T>,
): Admission<T> {
  return {
    name: `${kind.kind}Rules`,
    for: kind,
    on: ["CREATE", "UPDATE"],
    isReinvoked: true,
    webhook: { name, code: () => 403, reason: FORBIDDEN },
    mutate(review) {
      checkVersion(kind, name, review);
      if (!completes || review.subresource !== undefined || isSettled(review)) return review.object;
      const { table, on, skipsOwnWrites, complete } = completes;
      const object =
        (skipsOwnWrites && review.byController) || (on && on !== review.operation)
          ? review.object
          : decoded(table, kind.kind, name, review);
      return complete ? complete(object, { ...review, object }) : object;
    },
    validate: (review) => (!check || review.subresource !== undefined || isSettled(review) ? [] : check(review)),
    warnings: warnings ? (review: Review<T>) => (review.subresource === undefined ? warnings(review) : []) : undefined,
  };
}

/** A webhook denial without a field. */
export const denial = (webhook: string, message: string): Error => deniedByWebhook(webhook, 403, message, FORBIDDEN);

/**
 * Karmada's webhooks accept one version. Flotilla applies this to the status too: an older version holds only a part of
 * the stored object, and writing it would drop the rest.
 */
function checkVersion<T extends KubernetesObject>(kind: Kind<T>, name: string, { object }: Review<T>): void {
  const { apiVersion } = object as Read<KubernetesObject>;
  if (parseApiVersion(apiVersion).version !== kind.storageVersion) {
    throw deniedByWebhook(
      name,
      400,
      `unable to decode ${apiVersion}, Kind=${kind.kind} into *${kind.storageVersion}.${kind.kind}`,
    );
  }
}

function decoded<T>(table: string, kind: string, webhook: string, { object, settled }: Review<T>): Read<T> {
  const { spec } = object as JsonObject;
  const known = (settled as JsonObject | undefined)?.["spec"];
  // An absent struct is a struct with absent fields.
  const read = decodedPart(
    table,
    kind,
    { spec: spec ?? {} },
    (problem) => deniedByWebhook(webhook, 400, problem),
    known === undefined ? undefined : { spec: known },
  )["spec"];
  return read === spec ? object : { ...object, spec: read };
}

/** True when everything that validation reads has passed before. */
function isSettled<T>({ object, settled }: Review<T>): boolean {
  if (settled === undefined) return false;
  const [now, before] = [
    object as Read<KubernetesObject & { spec?: unknown }>,
    settled as Read<KubernetesObject & { spec?: unknown }>,
  ];
  return (
    now.spec === before.spec &&
    (["labels", "annotations", "finalizers"] as const).every((part) => now.metadata[part] === before.metadata[part])
  );
}
