/**
 * Which package may import which. `npm run check` reads this table, prints the graph, and fails on an import that it
 * does not allow, on a cycle between packages and on a cycle between the folders of a package.
 *
 * Other packages import a package by its name, through its `index.ts`; within a package, files import each other.
 */
const apimachinery = ["base", "apimachinery"];
const client = [...apimachinery, "client"];
const runtime = [...client, "cel", "controller-runtime"];
const kinds = [...runtime, "kubernetes"];
const products = [...kinds, "openkruise", "argo", "karmada", "ocm"];

export const packages: Readonly<Record<string, readonly string[]>> = {
  base: [],
  // Scripts of users; what Kubernetes adds to them is handed in.
  lua: ["base"],
  apimachinery: ["base"],
  cel: apimachinery,
  client: apimachinery,
  "controller-runtime": client,
  // Kinds with what makes them run. Pods are everywhere, so the other products build on Kubernetes'.
  kubernetes: runtime,
  openkruise: kinds,
  argo: kinds,
  // Policies warn when they select a cluster-scoped kind of OpenKruise from a namespace; ManifestWorks accept shorthand.
  karmada: [...kinds, "openkruise"],
  ocm: [...kinds, "openkruise"],
  // Knows no product. It uses kinds and rules of Kubernetes: namespaces, CRDs, RBAC, tokens, quota, Services, APIServices,
  // admission and flow control, DRA (docs/adr/0028).
  apiserver: [...client, "cel", "kubernetes"],
  simulation: products,
  flotilla: [...products, "lua"],
  // The client side only: commands run planners and interpreters, never an API server.
  cli: [...products, "lua", "flotilla"],
  // The page, and the format of what the server sends it.
  web: [],
  // The only place that wires.
  server: ["*"],
  // Builders and harnesses for tests; no product code imports it.
  testing: ["*"],
};

/**
 * What the tests of a package import besides what the package itself may import, each with the reason. Every test may also use
 * `testing`: a test that needs the whole composition takes it from there, or is one of `test/contract` and `test/simulation`.
 */
export const testImports: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openkruise: { flotilla: "interpreters of kinds are tried through the interpreter that asks them" },
  argo: { flotilla: "interpreters of kinds are tried through the interpreter that asks them" },
  cli: { server: "lint runs the rules of a server without a port, which the command line is handed" },
};

/** Inside `propagation` stages meet in the API objects and never call each other; these exceptions are pure functions. */
export const stages: Readonly<Record<string, readonly string[]>> = {
  match: [],
  // How much capacity a member has is a separate question, and not a stage.
  schedule: ["estimate"],
  override: [],
  dispatch: ["override"],
  execute: [],
  reflect: [],
  aggregate: [],
  namespaces: [],
  dependencies: [],
  eviction: [],
  // Failover asks the scheduler's own plan whether another cluster fits.
  failover: ["schedule"],
  rebalance: [],
  expiry: [],
  "revision-history": [],
  estimate: [],
};

/** What several stages use, in folders by subject. A stage may import them; the stages that a subject may import are listed. */
export const subjects: Readonly<Record<string, readonly string[]>> = {
  // Warnings to the writer of a policy or a template, from the pure functions of the stages that will read it.
  admission: ["override", "schedule"],
  bindings: [],
  concerns: [],
  jobs: [],
  members: [],
  moves: [],
  "pods-to-delete": [],
  policies: [],
  replicas: [],
  rules: [],
  templates: [],
  works: [],
};
