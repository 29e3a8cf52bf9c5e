/**
 * How Open Cluster Management's webhooks look at an object and refuse it. Each says no with a whole status of its own,
 * which the server passes on. A status is not theirs to see.
 */
import type { DeepReadonly } from "../../base/index.ts";
import {
  deniedByWebhook,
  forbidden,
  type ApiError,
  type FieldError,
  type ResourceName,
} from "../../machinery/index.ts";
import type { Admission, Review } from "../admission.ts";
import type { Kind } from "../kind.ts";
import type { KubernetesObject } from "../meta.ts";

export interface Refusals {
  /** What the webhook says of a wrong object. */
  badRequest(message: string): ApiError;
  /** What it says of one that the user may not write. */
  forbidden(resource: ResourceName, name: string, why: string): ApiError;
  /** What its decoder says of a value of the wrong type. */
  unreadable(problem: string): ApiError;
}

export function refusalsOf(webhook: string): Refusals {
  return {
    badRequest: (message) => deniedByWebhook(webhook, 400, message, "BadRequest"),
    forbidden(resource, name, why) {
      const { message = "", details } = forbidden(resource, name, why).status;
      return deniedByWebhook(webhook, 403, message, "Forbidden", details);
    },
    unreadable: (problem) => deniedByWebhook(webhook, 400, problem),
  };
}

export interface OcmRules<T> {
  /** The webhook that checks: `manifestworkvalidators.admission.work.open-cluster-management.io`. */
  validator: string;
  complete?(review: Review<T>): DeepReadonly<T>;
  /** Throws the webhook's refusal. */
  check(review: Review<T>, refuse: Refusals): void;
  canonical?: Admission<KubernetesObject>["canonical"];
  warnings?(review: Review<T>): readonly string[];
}

export function ocmAdmission<T extends KubernetesObject>(
  kind: Kind<T>,
  { validator, complete, check, canonical, warnings }: OcmRules<T>,
): Admission<T> {
  const refuse = refusalsOf(validator);
  return {
    for: kind,
    on: ["CREATE", "UPDATE"],
    webhook: { name: validator, code: () => 400 },
    ...(canonical && { canonical }),
    ...(complete && { mutate: (review: Review<T>) => (isSeen(review) ? complete(review) : review.object) }),
    validate(review): FieldError[] {
      if (isSeen(review)) check(review, refuse);
      return [];
    },
    ...(warnings && { warnings: (review: Review<T>) => (isSeen(review) ? warnings(review) : []) }),
  };
}

/** Rules look at specs, labels and annotations; what has passed them before needs no second look. */
export function isSeen<T>({ object, settled, subresource }: Review<T>): boolean {
  if (subresource !== undefined) return false;
  if (settled === undefined) return true;
  const [now, before] = [object, settled] as DeepReadonly<KubernetesObject & { spec?: unknown }>[];
  return (
    now?.spec !== before?.spec ||
    now?.metadata.labels !== before?.metadata.labels ||
    now?.metadata.annotations !== before?.metadata.annotations
  );
}
