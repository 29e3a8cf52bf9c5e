/** Defaults and validation of CertificateSigningRequest. */
import { formatTime, type DeepReadonly } from "@flotilla/base";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { builtInAdmission } from "@flotilla/apimachinery";
import type {
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
} from "@flotilla/apimachinery/facts/certificates-v1.ts";
import { checkChange, checkNewRequest } from "./certificatesigningrequest-validation.ts";
import { CertificateSigningRequest } from "./certificatesigningrequest-kind.ts";

type Read<T> = DeepReadonly<T>;
type Condition = Read<CertificateSigningRequestCondition>;

/** The server sets the requesting user and ignores the values sent. */
function signedBy(
  user: Review<CertificateSigningRequest>["user"],
  spec: Read<CertificateSigningRequestSpec>,
): Read<CertificateSigningRequestSpec> {
  const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...asked } = spec;
  const { name, uid, groups, extra } = user;
  return {
    ...asked,
    username: name,
    uid: uid || undefined,
    groups: groups.length > 0 ? groups : undefined,
    extra: extra && Object.keys(extra).length > 0 ? extra : undefined,
  };
}

/** Restricts which fields each subresource may change. */
function prepare(review: Review<CertificateSigningRequest>): Read<CertificateSigningRequest> {
  const { object, oldObject, subresource, user, nowMs } = review;
  if (!oldObject) return { ...object, spec: signedBy(user, object.spec ?? {}), status: {} };
  if (subresource === undefined) {
    const { status: _, ...rest } = object;
    return { ...rest, spec: oldObject.spec, status: oldObject.status };
  }
  const { conditions } = object.status ?? {};
  if (!conditions) return object;
  const kept = subresource === "status" ? keepDecision(conditions, oldObject.status?.conditions ?? []) : conditions;
  const dated = dateConditions(kept, oldObject.status?.conditions ?? [], formatTime(nowMs()));
  return { ...object, status: { ...object.status, conditions: dated } };
}

/** The signer cannot edit a decision: an existing decision is kept; added or removed ones are rejected later. */
function keepDecision(conditions: readonly Condition[], old: readonly Condition[]): readonly Condition[] {
  let result = conditions;
  for (const type of ["Approved", "Denied"]) {
    const before = old.filter((condition) => condition.type === type);
    if (result.filter((condition) => condition.type === type).length !== before.length) continue;
    let next = 0;
    result = result.map((condition) => (condition.type === type ? (before[next++] ?? condition) : condition));
  }
  return result;
}

/** Fills in missing times: now, or the time of the earlier condition with the same status. */
function dateConditions(conditions: readonly Condition[], old: readonly Condition[], now: string): Condition[] {
  return conditions.map((condition) => {
    if (condition.lastUpdateTime && condition.lastTransitionTime) return condition;
    const since = old.find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && lastTransitionTime,
    )?.lastTransitionTime;
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime || now,
      lastTransitionTime: condition.lastTransitionTime || (since ?? now),
    };
  });
}

export const rules: AnyAdmission[] = [
  {
    ...builtInAdmission(CertificateSigningRequest, "certificates-v1"),
    prepare,
    validate: ({ object, oldObject, subresource }: Review<CertificateSigningRequest>) =>
      oldObject ? checkChange(object, oldObject, subresource) : checkNewRequest(object),
  },
];
