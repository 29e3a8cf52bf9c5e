/** What `up` and `demo` need from a running hub with simulated members. `cmd` starts it; the commands only use it. */
import type { ControllerGroup, Shard, WorkloadProject } from "@flotilla/flotilla";
import type { LastStart } from "./data-directory.ts";

/** A store on other machines, and the files that it is reached with. */
export interface StoreOptions {
  /** `etcd://host:port,…/prefix`; `etcds` uses TLS. */
  address: string;
  caFile?: string;
  certificateFile?: string;
  keyFile?: string;
  passwordFile?: string;
}

/** Kubernetes' flags for authentication. */
export interface IdentityOptions {
  /** A file with the authorities of kubelets' certificates; unset accepts any certificate. */
  kubeletCertificateAuthority?: string | undefined;
  /** A file with an AuthenticationConfiguration. */
  authenticationConfig?: string | undefined;
  /** A kubeconfig of a webhook that knows tokens. */
  tokenWebhookConfig?: string | undefined;
  tokenWebhookCacheMs?: number | undefined;
  /** Proxies that authenticate users. */
  requestHeader?: {
    clientCaFile: string;
    allowedNames: readonly string[];
    usernameHeaders: readonly string[];
    uidHeaders: readonly string[];
    groupHeaders: readonly string[];
    extraPrefixes: readonly string[];
  };
  /** One provider by flags. */
  oidc?: {
    issuerUrl: string;
    clientId: string | undefined;
    usernameClaim: string;
    usernamePrefix: string | undefined;
    groupsClaim: string | undefined;
    groupsPrefix: string | undefined;
    requiredClaims: readonly string[];
    caFile: string | undefined;
  };
}

/** Kubernetes' flags for authorization. */
export interface AuthorizationOptions {
  /** A file with an AuthorizationConfiguration. */
  config?: string | undefined;
  /** The authorizers by flags, in order; unset: roles. */
  modes?: readonly string[] | undefined;
  /** A kubeconfig. */
  webhookConfig?: string | undefined;
  authorizedTtlMs?: number | undefined;
  unauthorizedTtlMs?: number | undefined;
}

/** Kubernetes' flags for the audit log. */
export interface AuditOptions {
  policyFile?: string | undefined;
  log?: {
    /** `-` is standard output. */
    path: string;
    maxSizeMib?: number | undefined;
    maxBackups?: number | undefined;
    maxAgeDays?: number | undefined;
  };
  /** A kubeconfig. */
  webhookConfigFile?: string | undefined;
}

/** What a process that serves a hub needs. */
export interface UiOptions {
  /** For browsers that ask for a name of this certificate; unset: the hub's own. */
  tls?: { certificateFile: string; keyFile: string } | undefined;
}

export interface HubProcessOptions {
  /** The command that starts it, for the hint of a stopped hub; unset means `up`. */
  command?: LastStart["command"];
  /** Where state, certificates and kubeconfigs are stored. */
  data: string;
  /** Keeps objects in memory only; certificates and kubeconfigs are still written to `data`. */
  ephemeral: boolean;
  /** Objects are kept in etcd; unset means the data directory. */
  store?: StoreOptions;
  /** The kubeconfig of a hub that this one follows until it is promoted; unset: it is a hub from the start. */
  standbyOf?: string | undefined;
  /** More addresses of the hub, which kubeconfigs name: those of its standby. */
  otherServers?: readonly string[] | undefined;
  /** The size of all objects above which none may be created or grow; 0 means no limit. */
  storeQuotaBytes?: number;
  /** 0 takes any free port. */
  port: number;
  /** The address to listen on; unset means loopback. */
  bindAddress?: string;
  /** The address or name that clients connect to; unset follows from the bind address. */
  advertiseAddress?: string;
  /** More names and addresses that the serving certificate is valid for. */
  tlsSans?: readonly string[];
  logLevel: "debug" | "info" | "warn" | "error";
  /** The format of log lines on standard error; unset means JSON. */
  logFormat?: "json" | "text";
  /** A folder with the keys of the hub, which is only read; unset means the folder `pki` of `data`. */
  keys?: string | undefined;
  /** How long requests are still accepted after `/readyz` reports that the server stops. */
  shutdownDelayMs?: number | undefined;
  /** How long the tokens in kubeconfigs of the data directory are valid; unset is 90 days. */
  kubeconfigLifetimeMs?: number | undefined;
  /** The audit log of requests; unset records none. */
  audit?: AuditOptions;
  /** The web UI below `/ui` on the port of the hub; unset serves none there. */
  ui?: UiOptions | undefined;
  /** A file with an EncryptionConfiguration; unset stores values as they are. */
  encryptionProviderConfig?: string | undefined;
  /** Identities of clients besides certificates and tokens of the hub. */
  identity?: IdentityOptions;
  /** Who decides what users may do; unset: roles. */
  authorization?: AuthorizationOptions;
  /**
   * Called with a sentence that states what to do when a running hub needs a person: its disk is full, or it listens
   * on a public address.
   */
  onProblem?(text: string): void;
}

/** How the controllers of a hub behave where no policy decides. */
export interface ControllerOptions {
  /** How often members are probed, and how long they must answer, or not, before it counts; unset are Karmada's defaults. */
  membership?: { periodMs: number; successMs: number; failureMs: number };
  /** What the informers of one member outside this process may hold. */
  memberLimits?: { objects: number; bytes: number };
  /** What the scheduler does beyond Karmada's defaults. */
  scheduling?: { enableEmptyWorkloadPropagation: boolean; multiplePodTemplatesScheduling: boolean };
  /** Defaults for leaving members that policies do not set; unset are Karmada's defaults. */
  failover?: FleetFailoverOptions;
  /** Agents of Open Cluster Management that first authenticate as one of these users are accepted automatically. */
  autoApprovedUsers?: readonly string[];
}

export interface FleetOptions extends HubProcessOptions, ControllerOptions {
  members: number;
  /** The names of the members; unset means `member1`, `member2`, … */
  memberNames?: readonly string[];
  /** Simulated nodes per member; 0 gives members that store but run nothing. */
  nodes: number;
  /** How long simulated pods take to start, to restart and to stop; unset is a second. */
  startMs?: number;
  /** Whether members have OpenKruise. */
  kruise: "installed" | "none";
  /** Feature gates of OpenKruise that differ from its defaults: `AllAlpha=true,CloneSetShortHash=false`. */
  kruiseGates?: string;
  /** Members that an agent serves instead of the hub, from when they join. */
  pull?: readonly string[] | "all";
  /** The port of the web UI on loopback; 0 takes a free one, unset serves none. */
  uiPort?: number;
}

interface ApiServerRoleOptions extends HubProcessOptions {
  /** Whether ClusterTaintPolicies may set NoExecute. */
  allowNoExecuteTaintPolicy: boolean;
}

/** A running API server without controllers. */
interface RunningApiServer {
  url: string;
  data: string;
  /** Of an administrator, and of the controllers. */
  kubeconfigs: { hub: string; controllers: string };
  logFile: string;
  stop(): Promise<void>;
  failed: Promise<Error>;
}

interface ControllersRoleOptions extends ControllerOptions {
  /** Unset: the API server of the cluster that this process is a pod of. */
  kubeconfig?: string | undefined;
  /** The groups of controllers that may run here; unset: all. */
  groups?: readonly ControllerGroup[];
  /** The members that this process delivers to; unset: all. */
  shard?: Shard;
  /** Of several processes one leads each group, by a Lease on the hub. */
  leaderElects: boolean;
  /**
   * Called when this process takes over a group, or with it all of its groups, and when it loses its leadership; not
   * when it starts.
   */
  onLeadership?(change: { won: ControllerGroup | "all" } | "lost"): void;
  /** Serves `/metrics`, `/metrics/members`, `/healthz` and `/readyz` there. */
  metricsAddress?: string;
  logLevel: HubProcessOptions["logLevel"];
  logFormat: "json" | "text";
}

interface WebhooksRoleOptions {
  /** Unset: the API server of the cluster that this process is a pod of. */
  kubeconfig?: string | undefined;
  /** The namespace of the installation. */
  namespace: string;
  port: number;
  bindAddress: string;
  /** More names and addresses in the serving certificate. */
  tlsSans: readonly string[];
  projects: readonly WorkloadProject[];
  /** Whether ClusterTaintPolicies may set NoExecute. */
  allowNoExecuteTaintPolicy: boolean;
  /** Whether it makes its APIServices itself. */
  makesApiServices: boolean;
  /** Users whose writes are those of the controllers. */
  controllerUsers: readonly string[];
  /** Serves `/metrics`, `/healthz` and `/readyz` there. */
  metricsAddress?: string | undefined;
  logLevel: HubProcessOptions["logLevel"];
  logFormat: "json" | "text";
}

/** A process that answers for an API server of Kubernetes. */
interface RunningWebhooks {
  /** The API server. */
  server: string;
  /** The port that it listens on. */
  port: number;
  /** Whether the API server authenticates itself, so that Clusters have a proxy and placements are explained. */
  isAggregated: boolean;
  /** Resolves when it has read the hub. */
  ready: Promise<void>;
  /** Resolves when it stopped. */
  ended: Promise<void>;
}

/** The groups that this process leads, and who leads another one. */
export interface ControllersStanding {
  leads: readonly ControllerGroup[];
  leader: string | undefined;
}

/** Controllers that are connected to a hub. */
interface RunningControllers {
  server: string;
  /** Resolves when every group has a leader. */
  standing: Promise<ControllersStanding>;
  /** Resolves when they stopped, rejects when they cannot continue. */
  ended: Promise<void>;
}

/** Starts one role of a hub in this process. */
export interface Roles {
  apiServer(
    options: ApiServerRoleOptions,
    progress: (text: string) => void,
    signal: AbortSignal,
  ): Promise<RunningApiServer>;
  /** What an API server of Kubernetes asks us about its objects: admission, conversion, and what it cannot serve itself. */
  webhooks(
    options: WebhooksRoleOptions,
    progress: (text: string) => void,
    signal: AbortSignal,
  ): Promise<RunningWebhooks>;
  controllers(
    options: ControllersRoleOptions,
    progress: (text: string) => void,
    signal: AbortSignal,
  ): Promise<RunningControllers>;
}

interface FleetFailoverOptions {
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
  /** A new address of the web UI that signs in once; unset when none is served. */
  uiLink?: (() => string) | undefined;
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
