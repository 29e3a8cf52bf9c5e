/** What `agent` and `register` ask of the process that runs them. `cmd` does it; the commands only say what. */
export interface AgentRunOptions {
  cluster: string;
  /** Everybody's identity before they are accepted, in Open Cluster Management's way. */
  bootstrapKubeconfig?: string;
  /** The agent's own, as registering Karmada's way leaves it. */
  hubKubeconfig?: string;
  /** Unset: the cluster in which it runs. */
  clusterKubeconfig?: string;
  clusterContext?: string;
  /** Where the agent keeps its credentials on the member, unless `state` names a directory. */
  namespace: string;
  state?: string;
  certificateSeconds?: number;
  /** One of several replicas, of which one serves. */
  leaderElects?: true;
  /** How long the cluster keeps what a ManifestWork brought that the hub does not have any more; unset is for good. */
  evictionGraceMs?: number;
  provider?: string;
  region?: string;
  zones: readonly string[];
  logLevel: "debug" | "info" | "warn" | "error";
  /** How lines of the log look; unset is JSON. */
  logFormat?: "json" | "text";
  /** Where the agent serves its figures, `HOST:PORT`; unset is nowhere. */
  metricsAddress?: string;
}

export interface RegisterOptions {
  /** `host:port` or an address. */
  endpoint: string;
  token: string;
  /** `sha256:…` of the authority's public key; empty with `trustsAnyAuthority`. */
  caHashes: readonly string[];
  trustsAnyAuthority: boolean;
  cluster: string;
  /** How long the agent's certificate shall hold. */
  certificateSeconds: number;
  /** How long the hub may not answer. */
  timeoutMs: number;
  /** Told once, when the hub does not answer and is waited for. */
  onTrouble(text: string): void;
}

/** What a cluster that registered is known by. */
export interface Registered {
  server: string;
  /** The agent's own kubeconfig, with its certificate. */
  kubeconfig: string;
}

export interface Agents {
  /** Serves until `signal` is aborted. `tell` hears when it begins. */
  run(options: AgentRunOptions, tell: (text: string) => void, signal: AbortSignal): Promise<void>;
  register(options: RegisterOptions, progress: (text: string) => void, signal: AbortSignal): Promise<Registered>;
}
