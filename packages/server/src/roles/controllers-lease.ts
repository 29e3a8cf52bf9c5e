/** The Lease that the active controllers process of a hub holds. */
import { HUB } from "@flotilla/apimachinery";
import { CONTROLLERS_LEASE } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";

export const CONTROLLERS_LEASE_KEY = { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, name: CONTROLLERS_LEASE };
