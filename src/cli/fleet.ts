/** What `up` and `demo` need from a running hub with simulated members. `cmd` starts it; the commands only use it. */
export interface FleetOptions {
  members: number;
  /** Simulated nodes per member; with 0 members store objects but run nothing. */
  nodes: number;
  /** How long simulated pods take to start, to restart and to stop; one second if unset. */
  startMs?: number;
  /** Whether members have OpenKruise. */
  kruise: "installed" | "none";
  /** Feature gates of OpenKruise that differ from its defaults: `AllAlpha=true,CloneSetShortHash=false`. */
  kruiseGates?: string;
  /**
   * How often the health of members is checked, and how long they must respond, or fail to, before their condition
   * changes; Karmada's defaults if unset.
   */
  membership?: { periodMs: number; successMs: number; failureMs: number };
  /** Scheduler options beyond Karmada's defaults. */
  scheduling?: { enableEmptyWorkloadPropagation: boolean; multiplePodTemplatesScheduling: boolean };
  /** Eviction settings for policies that set none; Karmada's defaults if unset. */
  failover?: FleetFailoverOptions;
  /** Members that an agent serves instead of the hub, from when they join. */
  pull?: readonly string[] | "all";
  /** Open Cluster Management agents that first authenticate as one of these users are accepted automatically. */
  autoApprovedUsers?: readonly string[];
  /** The directory for state, certificates and kubeconfigs. */
  data: string;
  /** Keeps objects in memory only; certificates and kubeconfigs are still written to `data`. */
  ephemeral: boolean;
  /** 0 picks a free port. */
  port: number;
  logLevel: "debug" | "info" | "warn" | "error";
  /** Format of the log lines on standard error; JSON if unset. */
  logFormat?: "json" | "text";
  /** Called with a message and a fix when the running fleet needs attention, for example because a disk is full. */
  onTrouble?(text: string): void;
}

export interface FleetFailoverOptions {
  /** Evictions per second from tainted members. */
  evictionsPerSecond: number;
  /** How long a copy under eviction waits for its replacement. */
  evictionTimeoutMs: number;
  /** How NoExecute taints evict workloads whose policy does not configure cluster failover; if unset, they do not. */
  unasked?: { purgeMode: "Directly" | "Gracefully" };
  /** Whether ClusterTaintPolicies may set NoExecute taints. */
  allowNoExecuteTaintPolicy: boolean;
}

export interface Fleet {
  /** `https://127.0.0.1:6443` */
  url: string;
  /** Files by cluster: `hub`, `member1`, … */
  kubeconfigs: ReadonlyMap<string, string>;
  members: readonly string[];
  /** The data directory, as an absolute path. */
  data: string;
  /** The log file of the process. */
  logFile: string;
  stop(): Promise<void>;
  /** Resolves with the reason when the fleet cannot continue, for example because its disk is full. */
  failed: Promise<Error>;
}

/** Resolves when every component responds. `progress` is called with each startup step. */
export type FleetStarter = (
  options: FleetOptions,
  progress: (text: string) => void,
  signal: AbortSignal,
) => Promise<Fleet>;
