/**
 * Which directory may import which. `npm run check` reads this table; ARCHITECTURE.md has a diagram of it.
 *
 * A directory may always import itself. Other directories are imported through their `index.ts`.
 */
const foundation = ["base", "machinery", "pki", "api"];
const upToClient = [...foundation, "client"];
const upToRuntime = [...upToClient, "runtime"];
const upToInterpreter = [...upToRuntime, "interpreter"];
const upToDelivery = [...upToInterpreter, "delivery"];

export const layers: Record<string, readonly string[]> = {
  base: [],
  machinery: ["base"],
  // Certificates, certificate requests, DER and PEM.
  pki: ["base"],
  api: ["base", "machinery", "pki"],
  store: ["base"],
  client: foundation,
  apiserver: [...upToClient, "store"],
  runtime: upToClient,
  interpreter: upToRuntime,
  delivery: upToInterpreter,
  propagation: upToDelivery,
  membership: upToDelivery,
  // Open Cluster Management on the same hub.
  ocm: upToDelivery,
  // Pull mode on a member: the controllers that a hub runs for the members it reaches, for one member.
  agent: [...upToDelivery, "propagation", "membership", "ocm"],
  // The Prometheus metrics of a hub and its agents: reads other components from outside, and receives their
  // measurements through meters.
  monitoring: [...upToDelivery, "propagation", "ocm"],
  // Controllers of every cluster, independent of its workload controllers: service accounts, root certificates, role
  // aggregation, quota.
  system: upToRuntime,
  workloads: upToRuntime,
  simulation: upToRuntime,
  // Explanations and plans: read-only, with the pure planners of the pipeline and of Placements.
  explain: [...upToDelivery, "propagation", "ocm"],
  // `flotilla interpret` runs rules without a server, and `flotilla plan` runs the planners.
  cli: [...upToClient, "interpreter", "explain"],
  // The only directory that wires components.
  cmd: ["*"],
  // Test builders and harnesses; product code may not import it.
  testing: ["*"],
};

/**
 * Inside `propagation` stages communicate through API objects and never call each other; these few exceptions are pure
 * functions.
 */
export const stages: Record<string, readonly string[]> = {
  match: [],
  // The capacity estimate of a member is a separate concern, not a stage.
  schedule: ["estimate"],
  override: [],
  dispatch: ["override"],
  execute: [],
  reflect: [],
  aggregate: [],
  namespaces: [],
  dependencies: [],
  eviction: [],
  // Uses the scheduler's plan to check whether another cluster is available.
  failover: ["schedule"],
  rebalance: [],
};
