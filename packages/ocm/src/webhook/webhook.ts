/**
 * Emulates how Open Cluster Management's webhooks validate an object and reject it. Each webhook returns a complete
 * Status, which the server passes on. They do not receive status updates.
 */
import type { DeepReadonly } from "@flotilla/base";
import { deniedByWebhook, forbidden } from "@flotilla/apimachinery";
import type {
  Admission,
  ApiError,
  FieldError,
  Kind,
  KubernetesObject,
  ResourceName,
  Review,
} from "@flotilla/apimachinery";

export interface Rejections {
  /** The webhook's error for an invalid object. */
  badRequest(message: string): ApiError;
  /** Its error for an object that the user may not write. */
  forbidden(resource: ResourceName, name: string, why: string): ApiError;
  /** Its decoder's error for a value of the wrong type. */
  unreadable(problem: string): ApiError;
}

export function rejectionsOf(webhook: string): Rejections {
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
  /** The validating webhook: `manifestworkvalidators.admission.work.open-cluster-management.io`. */
  validator: string;
  complete?(review: Review<T>): DeepReadonly<T>;
  /** Throws the webhook's rejection. */
  check(review: Review<T>, refuse: Rejections): void;
  canonical?: Admission<KubernetesObject>["canonical"];
  reads?: readonly Kind[];
  warnings?(review: Review<T>): readonly string[];
}

export function ocmAdmission<T extends KubernetesObject>(kind: Kind<T>, rules: OcmRules<T>): Admission<T> {
  const { validator, complete, check, canonical, reads, warnings } = rules;
  const refuse = rejectionsOf(validator);
  return {
    name: `${kind.kind}Rules`,
    for: kind,
    on: ["CREATE", "UPDATE"],
    reads,
    isReinvoked: true,
    webhook: { name: validator, code: () => 400 },
    canonical,
    mutate: complete ? (review: Review<T>) => (needsReview(review) ? complete(review) : review.object) : undefined,
    validate(review): FieldError[] {
      if (needsReview(review)) check(review, refuse);
      return [];
    },
    warnings: warnings ? (review: Review<T>) => (needsReview(review) ? warnings(review) : []) : undefined,
  };
}

/** Rules read specs, labels and annotations; an object that passed before is not checked again. */
export function needsReview<T>({ object, settled, subresource }: Review<T>): boolean {
  if (subresource !== undefined) return false;
  if (settled === undefined) return true;
  const [now, before] = [object, settled] as DeepReadonly<KubernetesObject & { spec?: unknown }>[];
  return (
    now?.spec !== before?.spec ||
    now?.metadata.labels !== before?.metadata.labels ||
    now?.metadata.annotations !== before?.metadata.annotations
  );
}
