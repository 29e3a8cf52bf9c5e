/** What `up` and `demo` need of a running hub with simulated members. `cmd` starts it; the commands only look at it. */
export interface FleetOptions {
  members: number;
  /** Simulated nodes per member; 0 gives members that store but run nothing. */
  nodes: number;
  /** How long simulated pods take to start, to restart and to stop; unset is a second. */
  startMs?: number;
  /** Whether members have OpenKruise. */
  kruise: "installed" | "none";
  /** Feature gates of OpenKruise that differ from its defaults: `AllAlpha=true,CloneSetShortHash=false`. */
  kruiseGates?: string;
  /**
   * How often members are asked whether they are well, and for how long they must answer, or not, before that counts;
   * unset are Karmada's defaults.
   */
  membership?: { periodMs: number; successMs: number; failureMs: number };
  /** What the scheduler does beyond Karmada's defaults. */
  scheduling?: { enableEmptyWorkloadPropagation: boolean; multiplePodTemplatesScheduling: boolean };
  /** What no policy says about leaving members; unset are Karmada's defaults. */
  failover?: FleetFailoverOptions;
  /** Members that an agent serves instead of the hub, from when they join. */
  pull?: readonly string[] | "all";
  /** Agents of Open Cluster Management that first sign in as one of these users are let in without anybody looking. */
  autoApprovedUsers?: readonly string[];
  /** Where state, certificates and kubeconfigs live. */
  data: string;
  /** Keeps objects in memory only; certificates and kubeconfigs are still written to `data`. */
  ephemeral: boolean;
  /** 0 takes any free port. */
  port: number;
  logLevel: "debug" | "info" | "warn" | "error";
  /** How lines of the log on standard error look; unset is JSON. */
  logFormat?: "json" | "text";
  /**
   * Told, in a sentence with what to do, when something needs a person while the fleet goes on: a disk that is full.
   */
  onTrouble?(text: string): void;
}

export interface FleetFailoverOptions {
  /** How many workloads leave tainted members per second. */
  evictionsPerSecond: number;
  /** How long a copy that is to go waits for its replacement. */
  evictionTimeoutMs: number;
  /** How NoExecute taints move workloads whose policy does not speak of cluster failover; unset: not at all. */
  unasked?: { purgeMode: "Directly" | "Gracefully" };
  /** Whether ClusterTaintPolicies may set NoExecute. */
  allowNoExecuteTaintPolicy: boolean;
}

export interface Fleet {
  /** `https://127.0.0.1:6443` */
  url: string;
  /** Files by cluster: `hub`, `member1`, … */
  kubeconfigs: ReadonlyMap<string, string>;
  members: readonly string[];
  /** The directory with everything, as a whole path. */
  data: string;
  /** What the process writes about itself. */
  logFile: string;
  stop(): Promise<void>;
  /** Resolves with the reason when the fleet cannot go on, for example because its disk is full. */
  failed: Promise<Error>;
}

/** Resolves when every part answers. `progress` is told what is being done. */
export type FleetStarter = (
  options: FleetOptions,
  progress: (text: string) => void,
  signal: AbortSignal,
) => Promise<Fleet>;
