/** The names of Flotilla's own that the API server is given. It knows none itself (docs/adr/0028). */

/** On a Service: `HOST:PORT`, where the hub calls it instead of at its endpoints. */
export const ADDRESS_ANNOTATION = "flotilla.dev/address";
/** The organization that limits a client certificate to a logical cluster begins with it. */
export const CLUSTER_ORGANIZATION_PREFIX = "flotilla.dev:cluster:";
/** What conflicts between a hub and its standby are about. */
export const HUB_RESOURCE = { group: "flotilla.dev", resource: "hubs" };
