/**
 * How long the certificates of agents are valid. A certificate cannot be revoked, and agents renew theirs, so it lives
 * for days: a stolen one is of no use afterwards. Pure.
 */
import type { CertificateRequest } from "@flotilla/apimachinery";
import { KARMADA_AGENTS_GROUP, RBAC_GENERATOR_USER } from "@flotilla/karmada";
import type { CertificateLifetime } from "@flotilla/kubernetes";
import { CLUSTER_USER_PREFIX } from "@flotilla/ocm";

const HOUR_SECONDS = 60 * 60;
const DAY_SECONDS = 24 * HOUR_SECONDS;
export const AGENT_LIFETIME: CertificateLifetime = { defaultSeconds: 7 * DAY_SECONDS, maxSeconds: 30 * DAY_SECONDS };
/** An administrator approves it for one `karmadactl register`, which takes seconds. */
const GENERATOR_LIFETIME: CertificateLifetime = { defaultSeconds: HOUR_SECONDS, maxSeconds: HOUR_SECONDS };

/** Undefined for users that are not agents. */
export function agentCertificateLifetime({
  commonName,
  organizations,
}: Pick<CertificateRequest, "commonName" | "organizations">): CertificateLifetime | undefined {
  if (commonName === RBAC_GENERATOR_USER) return GENERATOR_LIFETIME;
  return organizations.some((group) => group === KARMADA_AGENTS_GROUP || group.startsWith(CLUSTER_USER_PREFIX))
    ? AGENT_LIFETIME
    : undefined;
}
