import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "@flotilla/kubernetes";

/**
 * Who Flotilla's own controllers are. The API server trusts the group (`ApiServerOptions.controllerGroup`), whichever
 * transport a request comes through; only the server's own bootstrap issues credentials for it.
 */
export const FLOTILLA_GROUP = "system:flotilla";

/** The user of one part of Flotilla: `system:flotilla:execute`. It administers every logical cluster. */
export function flotillaUser(part: string): { name: string; groups: readonly string[] } {
  return {
    name: `${FLOTILLA_GROUP}:${part}`,
    groups: [FLOTILLA_GROUP, MASTERS_GROUP, AUTHENTICATED_GROUP],
  };
}
