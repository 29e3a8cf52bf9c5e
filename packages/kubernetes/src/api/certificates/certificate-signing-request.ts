/**
 * CertificateSigningRequest: a request for a certificate. The spec is immutable; a user or controller approves or
 * denies it through `approval`, and the signer stores the certificate through `status`. The server sets the requesting
 * user.
 */
import { formatTime, type DeepReadonly } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type {
  CertificateSigningRequest as CertificateSigningRequestFacts,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
} from "@flotilla/apimachinery/facts/certificates-v1.ts";
import type { Kind, StatusPart } from "@flotilla/apimachinery";
import { checkChange, checkNewRequest } from "./certificate-signing-request-rules.ts";

export type CertificateSigningRequest = CertificateSigningRequestFacts;

type Read<T> = DeepReadonly<T>;
type Condition = Read<CertificateSigningRequestCondition>;

/** The state of a request; `Pending` until it is approved or denied. */
export function requestState({ status = {} }: Read<CertificateSigningRequest>): {
  approved: boolean;
  denied: boolean;
  failed: boolean;
  issued: boolean;
} {
  const has = (type: string): boolean => status.conditions?.some((condition) => condition.type === type) ?? false;
  return {
    approved: has("Approved"),
    denied: has("Denied"),
    failed: has("Failed"),
    issued: (status.certificate ?? "") !== "",
  };
}

function describeState(request: Read<CertificateSigningRequest>): string {
  const { approved, denied, failed, issued } = requestState(request);
  return [
    denied ? "Denied" : approved ? "Approved" : "Pending",
    ...(failed ? ["Failed"] : []),
    ...(issued ? ["Issued"] : []),
  ].join(",");
}

/** Only the conditions of the status: approving does not sign. */
const approvalPart: StatusPart = {
  of: "status",
  take({ conditions }, stored) {
    const { conditions: _, ...rest } = stored;
    return { ...(conditions !== undefined && { conditions }), ...rest };
  },
};

export const CertificateSigningRequest: Kind<CertificateSigningRequest> = builtInKind<CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  shortNames: ["csr"],
  scope: "Cluster",
  facts: "certificates-v1",
  columns: [
    nameColumn,
    ageColumn,
    column<CertificateSigningRequest>("SignerName", ({ spec }) => spec.signerName || "<none>"),
    column<CertificateSigningRequest>("Requestor", ({ spec }) => spec.username ?? ""),
    column<CertificateSigningRequest>("RequestedDuration", ({ spec }) =>
      spec.expirationSeconds === undefined ? "<none>" : formatAge(spec.expirationSeconds * 1000),
    ),
    column<CertificateSigningRequest>("Condition", describeState),
  ],
  subresources: { status: true, parts: { approval: approvalPart } },
  traits: {
    names: "path",
    fixedSpec: true,
    selectableFields: {
      "spec.signerName": (object) => (object as unknown as Read<CertificateSigningRequest>).spec.signerName,
    },
  },
});

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
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}

/** Restricts which fields each subresource may change. */
function prepare({
  object,
  oldObject,
  subresource,
  user,
  nowMs,
}: Review<CertificateSigningRequest>): Read<CertificateSigningRequest> {
  if (!oldObject) return { ...object, spec: signedBy(user, object.spec ?? {}), status: {} };
  if (subresource === undefined) {
    const { status: _, ...rest } = object;
    return { ...rest, spec: oldObject.spec, ...(oldObject.status && { status: oldObject.status }) };
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

export const admissions: AnyAdmission[] = [
  {
    ...builtInAdmission(CertificateSigningRequest, "certificates-v1"),
    prepare,
    validate: ({ object, oldObject, subresource }: Review<CertificateSigningRequest>) =>
      oldObject ? checkChange(object, oldObject, subresource) : checkNewRequest(object),
  },
];
