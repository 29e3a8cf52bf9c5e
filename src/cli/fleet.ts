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
  /** How often members are asked whether they are well, and for how long they must answer, or not, before that counts; unset are Karmada's defaults. */
  membership?: { periodMs: number; successMs: number; failureMs: number };
  /** Where state, certificates and kubeconfigs live. */
  data: string;
  /** Keeps objects in memory only; certificates and kubeconfigs are still written to `data`. */
  ephemeral: boolean;
  /** 0 takes any free port. */
  port: number;
  logLevel: "debug" | "info" | "warn" | "error";
}

export interface Fleet {
  /** `https://127.0.0.1:6443` */
  url: string;
  /** Files by cluster: `hub`, `member1`, … */
  kubeconfigs: ReadonlyMap<string, string>;
  members: readonly string[];
  stop(): Promise<void>;
  /** Resolves with the reason when the fleet cannot go on, for example because its disk is full. */
  failed: Promise<Error>;
}

/** Resolves when every part answers. `progress` is told what is being done. */
export type FleetStarter = (options: FleetOptions, progress: (text: string) => void, signal: AbortSignal) => Promise<Fleet>;
