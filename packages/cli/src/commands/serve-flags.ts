/** Flags that `up`, `apiserver` and `controllers` share, and the options that they mean. */
import { UsageError } from "@flotilla/base";
import type { Flag, FlagValues, CommandContext } from "../command.ts";
import { LOG_LEVELS, logOptions } from "./log-flags.ts";
import { storeFlags, storeOptions } from "./store-flags.ts";
import { uiFlags, uiOptions } from "./ui-flags.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import type { ControllerOptions, HubProcessOptions } from "../fleet-starter.ts";

export const hubProcessFlags = {
  data: {
    type: "string",
    value: "DIR",
    description: "where to keep state, certificates and kubeconfigs (default ~/.flotilla)",
  },
  port: {
    type: "integer",
    value: "P",
    default: 6443,
    maximum: 65_535,
    description: "port of the API server; 0 takes any free one",
  },
  "bind-address": {
    type: "string",
    value: "IP",
    default: "127.0.0.1",
    description: "address to listen on; 0.0.0.0 listens on all, so that agents on other machines can join",
  },
  "advertise-address": {
    type: "string",
    value: "HOST",
    description:
      "address or name that kubeconfigs and agents connect to (default: the address it listens on; for 0.0.0.0 " +
      "and ::, the first address of this machine that is not a loopback address)",
  },
  "tls-san": {
    type: "string",
    value: "A,B",
    description: "more names and addresses that the serving certificate is valid for",
  },
  ephemeral: {
    type: "boolean",
    description:
      "keep objects in memory only; they are lost after a stop. Without --data, keys and kubeconfigs are in a temporary folder, which is removed then",
  },
  ...uiFlags,
  ...storeFlags,
  keys: {
    type: "string",
    value: "DIR",
    description:
      "folder with the keys of the hub, which all its API servers share; it is only read (default: the folder " +
      "pki of --data, where the first server creates them)",
  },
  "standby-of": {
    type: "string",
    value: "KUBECONFIG",
    description:
      "follow the hub of this administrator's kubeconfig, and serve when 'flotilla promote' says so; needs the keys of that hub",
  },
  "other-servers": {
    type: "string",
    value: "URL,URL",
    description:
      "more addresses of this hub, for example of its standby; kubeconfigs name them, and agents and controllers move there when this one does not answer",
  },
  "shutdown-delay": {
    type: "integer",
    value: "SECONDS",
    default: 0,
    maximum: 600,
    description:
      "how long requests are still accepted after a stop was requested and /readyz fails, so that load balancers choose another server",
  },
  "store-quota": {
    type: "integer",
    value: "MIB",
    default: 2048,
    maximum: 1_048_576,
    description:
      "size of all objects in MiB, which are in memory; above it nothing can be created or grow (507), and deletions still work; 0 means no limit",
  },
  "audit-policy-file": {
    type: "string",
    value: "FILE",
    description: "audit policy (audit.k8s.io/v1): which requests are recorded, and how much of them (default: none)",
  },
  "audit-log-path": {
    type: "string",
    value: "FILE",
    description: "file of the audit log, one JSON object per line; - is standard output",
  },
  "audit-log-maxsize": {
    type: "integer",
    value: "MIB",
    default: 100,
    minimum: 1,
    maximum: 1_048_576,
    description: "size at which the audit log is rotated",
  },
  "audit-log-maxbackup": {
    type: "integer",
    value: "N",
    default: 0,
    maximum: 1_000,
    description: "rotated files of the audit log to keep; 0 keeps 1000",
  },
  "audit-log-maxage": {
    type: "integer",
    value: "DAYS",
    default: 0,
    maximum: 36_500,
    description: "rotated files of the audit log that are older are deleted at the next rotation; 0 keeps them",
  },
  "audit-webhook-config-file": {
    type: "string",
    value: "FILE",
    description: "kubeconfig of a server that receives the audit events in batches",
  },
  "kubeconfig-lifetime": {
    type: "integer",
    value: "HOURS",
    default: 2160,
    minimum: 1,
    maximum: 87_600,
    description:
      "how long the token in a kubeconfig of the data directory is valid; the file gets a new token after half " +
      "of that time, while the process runs and at its start",
  },
  "encryption-provider-config": {
    type: "string",
    value: "FILE",
    description: "keys that encrypt stored objects: an EncryptionConfiguration (apiserver.config.k8s.io/v1)",
  },
  "authentication-config": {
    type: "string",
    value: "FILE",
    description: "identity providers and anonymous requests: an AuthenticationConfiguration (apiserver.config.k8s.io)",
  },
  "authentication-token-webhook-config-file": {
    type: "string",
    value: "FILE",
    description: "kubeconfig of a webhook that verifies tokens that the server does not know (TokenReview)",
  },
  "authentication-token-webhook-cache-ttl": {
    type: "integer",
    value: "SECONDS",
    default: 120,
    maximum: 86_400,
    description: "how long its answers are remembered",
  },
  "authorization-config": {
    type: "string",
    value: "FILE",
    description: "who decides what users may do: an AuthorizationConfiguration (apiserver.config.k8s.io)",
  },
  "authorization-mode": {
    type: "string",
    value: "A,B",
    description: "authorizers by flags, in order: Node, RBAC, Webhook (default Node,RBAC)",
  },
  "authorization-webhook-config-file": {
    type: "string",
    value: "FILE",
    description: "kubeconfig of the webhook of --authorization-mode Webhook (SubjectAccessReview)",
  },
  "authorization-webhook-cache-authorized-ttl": {
    type: "integer",
    value: "SECONDS",
    default: 300,
    maximum: 86_400,
    description: "how long its answers that allow are remembered",
  },
  "authorization-webhook-cache-unauthorized-ttl": {
    type: "integer",
    value: "SECONDS",
    default: 30,
    maximum: 86_400,
    description: "how long its other answers are remembered",
  },
  "kubelet-certificate-authority": {
    type: "string",
    value: "FILE",
    description:
      "authority of the kubelets of nodes that are not simulated; needed for their logs and commands if other machines use the hub",
  },
  "requestheader-client-ca-file": {
    type: "string",
    value: "FILE",
    description: "authority of proxies that authenticate users and name them in headers",
  },
  "requestheader-allowed-names": {
    type: "string",
    value: "A,B",
    description: "common names of these proxies (default: any that the authority signed)",
  },
  "requestheader-username-headers": {
    type: "string",
    value: "A,B",
    default: "X-Remote-User",
    description: "headers with the name of the user; the first one that has a value is used",
  },
  "requestheader-uid-headers": {
    type: "string",
    value: "A,B",
    default: "X-Remote-Uid",
    description: "headers with the uid of the user",
  },
  "requestheader-group-headers": {
    type: "string",
    value: "A,B",
    default: "X-Remote-Group",
    description: "headers with the groups of the user",
  },
  "requestheader-extra-headers-prefix": {
    type: "string",
    value: "A,B",
    default: "X-Remote-Extra-",
    description: "prefixes of headers with other values of the user",
  },
  "oidc-issuer-url": {
    type: "string",
    value: "URL",
    description: "one identity provider by flags, instead of --authentication-config",
  },
  "oidc-client-id": { type: "string", value: "ID", description: "the audience of its tokens" },
  "oidc-username-claim": {
    type: "string",
    value: "CLAIM",
    default: "sub",
    description: "the claim with the name of the user",
  },
  "oidc-username-prefix": {
    type: "string",
    value: "TEXT",
    description: "prefix of the user name (default: the issuer and #, none for the claim email; - means none)",
  },
  "oidc-groups-claim": { type: "string", value: "CLAIM", description: "the claim with the groups of the user" },
  "oidc-groups-prefix": { type: "string", value: "TEXT", description: "prefix of each group" },
  "oidc-required-claim": {
    type: "string",
    value: "CLAIM=VALUE",
    repeated: true,
    description: "a claim that tokens must have; may be repeated",
  },
  "oidc-ca-file": {
    type: "string",
    value: "FILE",
    description: "PEM of the authority of the provider's server (default: the system's)",
  },
  "log-format": {
    type: "string",
    choices: ["text", "json"],
    default: "text",
    description: "format of log lines on standard error; DIR/flotilla.log has JSON",
  },
  "log-level": {
    type: "string",
    choices: LOG_LEVELS,
    default: "warn",
    description: "what to log to standard error; DIR/flotilla.log has every change",
  },
} as const satisfies Record<string, Flag>;

export const controllerFlags = {
  "auto-approved-csr-users": {
    type: "string",
    value: "A,B",
    description:
      "users whose agents of Open Cluster Management are accepted without 'flotilla accept' when they first authenticate (default: none)",
  },
  "cluster-status-update-frequency": {
    type: "integer",
    value: "SECONDS",
    default: 10,
    minimum: 1,
    maximum: 3600,
    description: "how often the health of members is probed",
  },
  "cluster-success-threshold": {
    type: "integer",
    value: "SECONDS",
    default: 30,
    maximum: 86_400,
    description: "how long a member that was unreachable must answer before it is ready again",
  },
  "cluster-failure-threshold": {
    type: "integer",
    value: "SECONDS",
    default: 30,
    maximum: 86_400,
    description: "how long a ready member may fail to answer before it is not ready",
  },
  "member-max-objects": {
    type: "integer",
    value: "N",
    default: 200_000,
    minimum: 1000,
    maximum: 10_000_000,
    description: "how many objects of one member the hub watches; a member with more is cut off",
  },
  "member-max-memory": {
    type: "integer",
    value: "MIB",
    default: 256,
    minimum: 1,
    maximum: 65_536,
    description: "how much memory the watched objects of one member may take; a member with more is cut off",
  },
  "enable-empty-workload-propagation": {
    type: "boolean",
    description: "members that get no replicas of a divided workload get it with 0",
  },
  "multiple-pod-templates-scheduling": {
    type: "boolean",
    description: "place workloads of several components as a whole, where there is room for all of them",
  },
  "resource-eviction-rate": {
    type: "number",
    value: "N",
    default: 0.5,
    maximum: 10_000,
    description: "how many workloads leave tainted members per second; 0 is one in 30 minutes",
  },
  "graceful-eviction-timeout": {
    type: "integer",
    value: "SECONDS",
    default: 600,
    maximum: 604_800,
    description: "how long an evicted copy waits for its replacement, where the policy does not set it",
  },
  "enable-no-execute-taint-eviction": {
    type: "boolean",
    description: "NoExecute taints also move workloads whose policy does not configure cluster failover",
  },
  "no-execute-taint-eviction-purge-mode": {
    type: "string",
    choices: ["Gracefully", "Directly"],
    default: "Gracefully",
    description:
      "how workloads evicted by --enable-no-execute-taint-eviction leave: after their replacement is healthy, or at once",
  },
} as const satisfies Record<string, Flag>;

export const taintPolicyFlag = {
  type: "boolean",
  description: "ClusterTaintPolicies may set NoExecute, which moves workloads",
} as const satisfies Flag;

/** `a,b` as a list; undefined stays undefined. */
export const namesIn = (text: string | undefined): string[] | undefined =>
  text === undefined ? undefined : text.split(",").filter((name) => name !== "");

export function hubProcessOptions(
  flags: FlagValues<typeof hubProcessFlags>,
  { environment, output }: Pick<CommandContext<Record<string, never>>, "environment" | "output">,
  command: NonNullable<HubProcessOptions["command"]>,
): HubProcessOptions {
  if (flags.data === "") throw new UsageError("--data needs the name of a directory");
  return {
    command,
    data: flags.data ?? defaultDataDirectory(environment),
    port: flags.port,
    bindAddress: flags["bind-address"],
    advertiseAddress: flags["advertise-address"],
    tlsSans: namesIn(flags["tls-san"]),
    ephemeral: flags.ephemeral,
    store: durableStore(flags),
    standbyOf: standbyOf(flags),
    otherServers: otherServers(flags["other-servers"]),
    keys: flags.keys,
    shutdownDelayMs: flags["shutdown-delay"] * 1000,
    storeQuotaBytes: flags["store-quota"] * 1024 * 1024,
    ...logOptions(flags),
    ui: uiOptions(flags),
    audit: {
      policyFile: flags["audit-policy-file"],
      log:
        flags["audit-log-path"] === undefined
          ? undefined
          : {
              path: flags["audit-log-path"],
              maxSizeMib: flags["audit-log-maxsize"],
              maxBackups: flags["audit-log-maxbackup"],
              maxAgeDays: flags["audit-log-maxage"],
            },
      webhookConfigFile: flags["audit-webhook-config-file"],
    },
    kubeconfigLifetimeMs: flags["kubeconfig-lifetime"] * 60 * 60 * 1000,
    encryptionProviderConfig: flags["encryption-provider-config"],
    authorization: {
      config: flags["authorization-config"],
      modes: namesIn(flags["authorization-mode"]),
      webhookConfig: flags["authorization-webhook-config-file"],
      authorizedTtlMs: flags["authorization-webhook-cache-authorized-ttl"] * 1000,
      unauthorizedTtlMs: flags["authorization-webhook-cache-unauthorized-ttl"] * 1000,
    },
    identity: {
      kubeletCertificateAuthority: flags["kubelet-certificate-authority"],
      authenticationConfig: flags["authentication-config"],
      tokenWebhookConfig: flags["authentication-token-webhook-config-file"],
      tokenWebhookCacheMs: flags["authentication-token-webhook-cache-ttl"] * 1000,
      requestHeader: requestHeaderOptions(flags),
      oidc:
        flags["oidc-issuer-url"] === undefined
          ? undefined
          : {
              issuerUrl: flags["oidc-issuer-url"],
              clientId: flags["oidc-client-id"],
              usernameClaim: flags["oidc-username-claim"],
              usernamePrefix: flags["oidc-username-prefix"],
              groupsClaim: flags["oidc-groups-claim"],
              groupsPrefix: flags["oidc-groups-prefix"],
              requiredClaims: flags["oidc-required-claim"],
              caFile: flags["oidc-ca-file"],
            },
    },
    onProblem: (text) => output.warn(output.called(`flotilla ${command}: ${text}`)),
  };
}

function standbyOf(flags: FlagValues<typeof hubProcessFlags>): string | undefined {
  if (flags["standby-of"] !== undefined && flags.ephemeral)
    throw new UsageError("--standby-of keeps a copy on disk, --ephemeral keeps nothing; choose one");
  return flags["standby-of"];
}

function otherServers(text: string | undefined): string[] | undefined {
  return namesIn(text)?.map((address) => {
    if (!URL.canParse(address) || new URL(address).protocol !== "https:")
      throw new UsageError(`--other-servers: "${address}" is not an address such as https://hub2.example.com:6443`);
    return address.replace(/\/+$/, "");
  });
}

function requestHeaderOptions(
  flags: FlagValues<typeof hubProcessFlags>,
): NonNullable<HubProcessOptions["identity"]>["requestHeader"] {
  const clientCaFile = flags["requestheader-client-ca-file"];
  const allowedNames = namesIn(flags["requestheader-allowed-names"]) ?? [];
  if (clientCaFile === undefined) {
    if (allowedNames.length > 0)
      throw new UsageError("--requestheader-allowed-names needs --requestheader-client-ca-file");
    return undefined;
  }
  return {
    clientCaFile,
    allowedNames,
    usernameHeaders: namesIn(flags["requestheader-username-headers"]) ?? [],
    uidHeaders: namesIn(flags["requestheader-uid-headers"]) ?? [],
    groupHeaders: namesIn(flags["requestheader-group-headers"]) ?? [],
    extraPrefixes: namesIn(flags["requestheader-extra-headers-prefix"]) ?? [],
  };
}

function durableStore(flags: FlagValues<typeof hubProcessFlags>): HubProcessOptions["store"] {
  const store = storeOptions(flags);
  if (store && flags.ephemeral)
    throw new UsageError("--ephemeral keeps objects in memory, --store in etcd; choose one");
  return store;
}

export function controllerOptions(
  flags: FlagValues<typeof controllerFlags>,
  allowNoExecuteTaintPolicy: boolean,
): ControllerOptions {
  const purgeMode = flags["no-execute-taint-eviction-purge-mode"] === "Directly" ? "Directly" : "Gracefully";
  return {
    autoApprovedUsers: namesIn(flags["auto-approved-csr-users"]),
    membership: {
      periodMs: flags["cluster-status-update-frequency"] * 1000,
      successMs: flags["cluster-success-threshold"] * 1000,
      failureMs: flags["cluster-failure-threshold"] * 1000,
    },
    memberLimits: { objects: flags["member-max-objects"], bytes: flags["member-max-memory"] * 1024 * 1024 },
    scheduling: {
      enableEmptyWorkloadPropagation: flags["enable-empty-workload-propagation"],
      multiplePodTemplatesScheduling: flags["multiple-pod-templates-scheduling"],
    },
    failover: {
      evictionsPerSecond: flags["resource-eviction-rate"],
      evictionTimeoutMs: flags["graceful-eviction-timeout"] * 1000,
      unasked: flags["enable-no-execute-taint-eviction"] ? { purgeMode } : undefined,
      allowNoExecuteTaintPolicy,
    },
  };
}

/** Resolves when the command is to stop. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}
