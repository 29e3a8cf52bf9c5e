/** What `agent` and `register` need from the process that runs them. `cmd` implements it; the commands only call it. */
export interface AgentRunOptions {
  cluster: string;
  /** The shared identity before a cluster is accepted, as in Open Cluster Management. */
  bootstrapKubeconfig?: string;
  /** The agent's own kubeconfig, as written by registration through Karmada's API. */
  hubKubeconfig?: string;
  /** If unset, the cluster that the agent runs in. */
  clusterKubeconfig?: string;
  clusterContext?: string;
  /** Where the agent keeps its credentials on the member, unless `state` names a directory. */
  namespace: string;
  state?: string;
  certificateSeconds?: number;
  /** One of several replicas; the leader serves. */
  leaderElects?: true;
  /** How long the cluster keeps the objects of a ManifestWork that the hub no longer has; if unset, forever. */
  evictionGraceMs?: number;
  provider?: string;
  region?: string;
  zones: readonly string[];
  logLevel: "debug" | "info" | "warn" | "error";
  /** Format of the log lines; JSON if unset. */
  logFormat?: "json" | "text";
  /** Where the agent serves its metrics, `HOST:PORT`; if unset, it serves none. */
  metricsAddress?: string;
}

export interface RegisterOptions {
  /** `host:port` or a URL. */
  endpoint: string;
  token: string;
  /** `sha256:…` of the CA's public key; empty with `trustsAnyAuthority`. */
  caHashes: readonly string[];
  trustsAnyAuthority: boolean;
  cluster: string;
  /** Requested lifetime of the agent's certificate. */
  certificateSeconds: number;
  /** How long the hub may stay unreachable. */
  timeoutMs: number;
  /** Called once when the hub does not respond and the agent waits for it. */
  onProblem(text: string): void;
}

/** The identity of a registered cluster. */
export interface Registered {
  server: string;
  /** The agent's own kubeconfig, with its certificate. */
  kubeconfig: string;
}

export interface Agents {
  /** Serves until `signal` is aborted. Calls `report` when it starts serving. */
  run(options: AgentRunOptions, report: (text: string) => void, signal: AbortSignal): Promise<void>;
  register(options: RegisterOptions, progress: (text: string) => void, signal: AbortSignal): Promise<Registered>;
}
