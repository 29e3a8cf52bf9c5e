/**
 * When a certificate request has expired. Programs create requests automatically, so they must be deleted
 * automatically.
 */
import { X509Certificate } from "node:crypto";
import {
  requestState,
  type CertificateSigningRequest,
} from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import type { DeepReadonly } from "@flotilla/base";

const HOUR_MS = 60 * 60 * 1000;
/** Long enough for the requester to read the result. */
const DECIDED_MS = HOUR_MS;
const WAITING_MS = 24 * HOUR_MS;

/** The time after which it is no longer needed; infinite if something has to happen first. */
export function expiryOf(csr: DeepReadonly<CertificateSigningRequest>): number {
  const { metadata, status = {} } = csr;
  const { conditions = [] } = status;
  const { approved, issued } = requestState(csr);
  if (conditions.length === 0) return after(metadata.creationTimestamp, WAITING_MS);
  const ages: Record<string, number> = {
    Denied: DECIDED_MS,
    Failed: DECIDED_MS,
    Approved: issued ? DECIDED_MS : WAITING_MS,
  };
  const ends = conditions.map(({ type, lastUpdateTime }) =>
    Object.hasOwn(ages, type) ? after(lastUpdateTime, ages[type] ?? WAITING_MS) : Number.POSITIVE_INFINITY,
  );
  return Math.min(...ends, approved && issued ? certificateEnd(status.certificate ?? "") : Number.POSITIVE_INFINITY);
}

function after(time: string | undefined, ms: number): number {
  const from = Date.parse(time ?? "");
  return Number.isNaN(from) ? Number.POSITIVE_INFINITY : from + ms;
}

/** The API accepts only certificates, but Node cannot parse those of some signers: these requests stay for an hour. */
function certificateEnd(certificate: string): number {
  try {
    return new X509Certificate(Buffer.from(certificate, "base64")).validToDate.getTime();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return Number.POSITIVE_INFINITY;
  }
}
