/**
 * Which folder may import which. `npm run check` reads this table; STYLE's picture of it is in ARCHITECTURE.md.
 *
 * A folder may always import itself. Other folders are imported through their `index.ts`.
 */
const foundation = ["base", "machinery", "api"];
const upToClient = [...foundation, "client"];
const upToRuntime = [...upToClient, "runtime"];
const upToInterpreter = [...upToRuntime, "interpreter"];
const upToDelivery = [...upToInterpreter, "delivery"];

export const layers: Record<string, readonly string[]> = {
  base: [],
  machinery: ["base"],
  api: ["base", "machinery"],
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
  // Pull mode on a member: the controllers that a hub runs for members that it reaches, for one member.
  agent: [...upToDelivery, "propagation", "membership", "ocm"],
  // What a hub and its agents tell Prometheus: it looks at the others from outside, and is told by their meters.
  monitoring: [...upToDelivery, "propagation", "ocm"],
  // Controllers that every cluster has, whoever runs its workloads: service accounts, root certificates, role
  // aggregation, quota.
  system: upToRuntime,
  workloads: upToRuntime,
  simulation: upToRuntime,
  // Why and what if: it reads, and asks the pure planners of the pipeline and of Placements.
  explain: [...upToDelivery, "propagation", "ocm"],
  // `flotilla interpret` runs rules without a server, and `flotilla plan` the planners.
  cli: [...upToClient, "interpreter", "explain"],
  // The only place that wires.
  cmd: ["*"],
  // Builders and harnesses for tests; no other folder's code may import it.
  testing: ["*"],
};

/**
 * Inside `propagation` stages meet in the API objects and never call each other; these few exceptions are pure
 * functions.
 */
export const stages: Record<string, readonly string[]> = {
  match: [],
  // How much fits a member is a question of its own, and not a stage.
  schedule: ["estimate"],
  override: [],
  dispatch: ["override"],
  execute: [],
  reflect: [],
  aggregate: [],
  namespaces: [],
  dependencies: [],
  eviction: [],
  // Whether there is a place to go to is asked of the scheduler's own plan.
  failover: ["schedule"],
  rebalance: [],
};
