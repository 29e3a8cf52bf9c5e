/**
 * The registration of an agent through Karmada's API, kept on the ClusterRole of the agent: from the approval of its
 * certificate until it creates its Cluster, and from then on as long as the Cluster exists. Pure.
 */
import type { DeepReadonly } from "@flotilla/base";
import { formatTime } from "@flotilla/base";
import type { ClusterRole } from "@flotilla/kubernetes";

/** On the ClusterRole of an agent: the user that registered it. */
export const REGISTERED_BY = "flotilla.dev/registered-by";
/** On the ClusterRole of an agent without a Cluster: when its certificate, and with it the registration, expires. */
export const RESERVED_UNTIL = "flotilla.dev/reserved-until";

export interface Registration {
  by: string;
  /** Unset once the Cluster has been created. */
  reservedUntilMs?: number;
}

/** Undefined for a role that another program created. */
export function registrationOf(role: DeepReadonly<ClusterRole> | undefined): Registration | undefined {
  const { [REGISTERED_BY]: by, [RESERVED_UNTIL]: until } = role?.metadata.annotations ?? {};
  if (by === undefined) return undefined;
  // An unreadable time has passed.
  return { by, reservedUntilMs: until === undefined ? undefined : Date.parse(until) || 0 };
}

export function registrationAnnotations({ by, reservedUntilMs }: Registration): Record<string, string> {
  return reservedUntilMs === undefined
    ? { [REGISTERED_BY]: by }
    : { [REGISTERED_BY]: by, [RESERVED_UNTIL]: formatTime(reservedUntilMs) };
}

export type RegistrationPlan =
  | { type: "leave" }
  | { type: "keep"; registration: Registration; recheckAfterMs?: number }
  | { type: "remove" };

export function planRegistrationState(state: {
  /** Whether the ClusterRole exists, and the registration on it. */
  hasRole: boolean;
  registration?: Registration;
  /** The Cluster of the name; undefined without one. */
  cluster?: { isPull: boolean };
  /** The user of the agent, for roles that `karmadactl register` created. */
  agent: string;
  nowMs: number;
}): RegistrationPlan {
  const { hasRole, registration, cluster, agent, nowMs } = state;
  // Deleting the ClusterRole withdraws the registration.
  if (!hasRole) return { type: "remove" };
  if (cluster?.isPull) return { type: "keep", registration: { by: registration?.by ?? agent } };
  // `karmadactl register` creates roles before it requests the certificate.
  if (!registration) return { type: "leave" };
  const leftMs = (registration.reservedUntilMs ?? 0) - nowMs;
  return cluster || leftMs <= 0 ? { type: "remove" } : { type: "keep", registration, recheckAfterMs: leftMs };
}
