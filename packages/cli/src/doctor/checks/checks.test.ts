import { describe, expect, test } from "vitest";
import type { APIService, CertificateSigningRequest } from "@flotilla/kubernetes";
import type {
  Cluster,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  Work,
} from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { verdictOf } from "../doctor-check.ts";
import type { Judgement, Verdict } from "../doctor-check.ts";
import { agentsCheck } from "./agents.ts";
import { apisCheck } from "./apis.ts";
import type { Use } from "./apis.ts";
import { bindingsCheck } from "./bindings.ts";
import { certificatesCheck } from "./certificates.ts";
import type { Credential } from "./certificates.ts";
import { clocksCheck } from "./clocks.ts";
import { dataCheck } from "./data.ts";
import { driftCheck } from "./drift.ts";
import { finalizersCheck } from "./finalizers.ts";
import { hubCheck } from "./hub.ts";
import { webhooksCheck } from "./webhooks.ts";
import type { WebhookFacts } from "./webhooks.ts";
import { interpretersCheck } from "./interpreters.ts";
import type { InterpreterFacts } from "./interpreters.ts";
import { joinsCheck } from "./joins.ts";
import { membersCheck } from "./members.ts";
import { ocmCheck } from "./ocm.ts";
import { openkruiseCheck } from "./openkruise.ts";
import { policiesCheck } from "./policies.ts";
import { versionsCheck } from "./versions.ts";
import { worksCheck } from "./works.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const now = { nowMs: NOW, stuckAfterMs: 60_000 };
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString().replace(".000Z", "Z");
const condition = (
  type: string,
  status: string,
  message = "",
  reason = "Reason",
  seconds = 600,
): { type: string; status: string; reason: string; message: string; lastTransitionTime: string } => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: ago(seconds),
});
/** An object created ten minutes ago. */
const made = (kind: string, name: string, extra: object, metadata: object = {}): never =>
  ({
    kind,
    metadata: { namespace: "shop", name, creationTimestamp: ago(600), ...metadata },
    spec: {},
    ...extra,
  }) as never;
const cluster = (
  name: string,
  extra: { spec?: object; status?: object; metadata?: object } = {},
): DeepReadonly<Cluster> =>
  made(
    "Cluster",
    name,
    {
      spec: { syncMode: "Push", apiEndpoint: "https://paris.example.com", ...extra.spec },
      status: { kubernetesVersion: "v1.36.3", conditions: [condition("Ready", "True")], ...extra.status },
    },
    { namespace: undefined, ...extra.metadata },
  );

interface Case {
  judged: Judgement;
  verdict: Verdict;
  /** A substring of the observation, the fix or the commands of the first finding. */
  says?: string;
}

const credential = (fromDays: number, toDays: number): Credential => ({
  what: "serving certificate of the hub",
  about: "hub",
  fix: "Start it again.",
  commands: ["flotilla up"],
  fromMs: NOW + fromDays * 86_400_000,
  toMs: NOW + toDays * 86_400_000,
});
const certificates = (...credentials: Credential[]): Judgement =>
  certificatesCheck.judge({ credentials, unseen: [] }, now);
const use = (extra: Partial<Use> = {}): Use => ({
  apiVersion: "games.example.com/v1",
  kind: "GameFleet",
  object: "shop/eu",
  clusters: ["paris"],
  isRefused: false,
  ...extra,
});
const serving = (name: string, groupVersion: string, kind: string): DeepReadonly<Cluster> =>
  cluster(name, { status: { apiEnablements: [{ groupVersion, resources: [{ name: "x", kind }] }] } });
const apis = (clusters: DeepReadonly<Cluster>[], uses: Use[], definitions: [string, string][] = []): Judgement =>
  apisCheck.judge({ clusters, uses, definitions: new Map(definitions) }, now);
const binding = (conditions: object[], extra: object = {}): DeepReadonly<ResourceBinding> =>
  made("ResourceBinding", "web-deployment", {
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }, ...extra },
    status: { conditions },
  });
const work = (...conditions: object[]): DeepReadonly<Work> =>
  made(
    "Work",
    "web-1",
    {
      spec: {
        workload: {
          manifests: [{ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name: "web" } }],
        },
      },
      status: { conditions },
    },
    { namespace: "karmada-es-paris" },
  );
const policy = (status: object, spec: object = {}): DeepReadonly<PropagationPolicy> =>
  made("PropagationPolicy", "web", {
    spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }], ...spec },
    status,
  });
const served = [
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "apps", version: "v1", kind: "StatefulSet" },
];
const policies = (
  list: DeepReadonly<PropagationPolicy>[],
  withBindings: readonly DeepReadonly<ResourceBinding>[] = [],
): Judgement =>
  policiesCheck.judge(
    {
      policies: list,
      joined: new Set(["oslo"]),
      bindings: withBindings,
      served: {
        versions: (group, kind) =>
          served.filter((type) => type.group === group && type.kind === kind).map(({ version }) => version),
        kinds: () => served,
      },
    },
    now,
  );
const young = (made: DeepReadonly<PropagationPolicy>): DeepReadonly<PropagationPolicy> => ({
  ...made,
  metadata: { ...made.metadata, creationTimestamp: new Date(NOW - 1000).toISOString() },
});
/** A binding that is not scheduled because its policy names only a cluster that is not a member. */
const misdirected = (name: string, policyName = "all"): DeepReadonly<ResourceBinding> => {
  const unscheduled = binding([condition("Scheduled", "False", "0/1 clusters", "NoClusterFit")], {
    resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name },
    placement: { clusterAffinity: { clusterNames: ["olso"] } },
  });
  const annotations = { "clusterpropagationpolicy.karmada.io/name": policyName };
  return { ...unscheduled, metadata: { ...unscheduled.metadata, annotations } };
};
const claimed = (made: DeepReadonly<ResourceBinding>): DeepReadonly<ResourceBinding> => ({
  ...made,
  metadata: { ...made.metadata, annotations: { "clusterpropagationpolicy.karmada.io/name": "all" } },
});
const bindings = (list: DeepReadonly<ResourceBinding>[]): Judgement =>
  bindingsCheck.judge({ bindings: list, joined: new Set(["oslo"]) }, now);
const deleting = (extra: object = {}): Judgement =>
  finalizersCheck.judge(
    {
      looked: 9,
      unseen: [],
      deleting: [
        {
          type: "works.work.karmada.io",
          kind: "Work",
          namespace: "karmada-es-paris",
          name: "web-1",
          sinceMs: NOW - 600_000,
          finalizers: ["karmada.io/execution-controller"],
          member: "paris",
          ...extra,
        },
      ],
    },
    now,
  );
const calledPrograms = (extra: Partial<WebhookFacts> = {}): Judgement =>
  webhooksCheck.judge(
    { services: [], failing: [], calls: [], seconds: [], failingConversions: [], uncalled: [], unseen: [], ...extra },
    now,
  );
const aggregated = (status: "True" | "False"): APIService => ({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1.fish.example" },
  spec: {
    group: "fish.example",
    version: "v1",
    groupPriorityMinimum: 1000,
    versionPriority: 100,
    service: { namespace: "default", name: "fish" },
  },
  status: {
    conditions: [
      {
        type: "Available",
        status,
        reason: "ServiceNotFound",
        message: 'service/fish in "default" is not present',
        lastTransitionTime: new Date(NOW - 60_000).toISOString(),
      },
    ],
  },
});
const rules = (extra: Partial<InterpreterFacts> = {}): Judgement =>
  interpretersCheck.judge(
    {
      customizations: [],
      webhooks: [],
      failing: [],
      works: [],
      quarantined: [],
      scriptsFailing: [],
      webhooksFailing: [],
      scriptFailures: [],
      webhookFailures: [],
      unseen: [],
      ...extra,
    },
    now,
  );
const failed = {
  reason: "GetReplicasFailed",
  object: "GameFleet shop/eu",
  message: "running InterpretReplica of ResourceInterpreterCustomization gamefleet: line 2",
  atMs: NOW - 60_000,
};
const failingOn = (member: string): DeepReadonly<Work> => {
  const failing = condition("Interpreted", "False");
  const message = "running InterpretHealth of ResourceInterpreterCustomization gamefleet: nil";
  const found = work({ ...failing, message });
  return { ...found, metadata: { ...found.metadata, namespace: `karmada-es-${member}` } };
};
const gamefleet = (script: string): DeepReadonly<ResourceInterpreterCustomization> =>
  made("ResourceInterpreterCustomization", "gamefleet", {
    spec: {
      target: { apiVersion: "games.example.com/v1", kind: "GameFleet" },
      customizations: { replicaResource: { luaScript: script } },
    },
  });
const SCRIPT = "function GetReplicas(desiredObj)\n  return 1, nil\nend\n";
const REVISE = { customization: "gamefleet", operation: "ReviseReplica" };
const GET_OF_WEBHOOK = { webhook: "games.example.com", operation: "InterpretReplica" };
const request = (conditions: string[], extra: object = {}): DeepReadonly<CertificateSigningRequest> =>
  made(
    "CertificateSigningRequest",
    "csr-1",
    {
      spec: { username: "system:bootstrap:abcdef" },
      status: { conditions: conditions.map((type) => ({ type, status: "True", message: "no signer" })), ...extra },
    },
    { labels: { "open-cluster-management.io/cluster-name": "oslo" } },
  );
const managed = (name: string, accepts: boolean, conditions: object[] = []): DeepReadonly<ManagedCluster> =>
  made("ManagedCluster", name, { spec: { hubAcceptsClient: accepts }, status: { conditions } });
const pulling = cluster("paris", { spec: { syncMode: "Pull" } });
const agents = (heardSecondsAgo?: number, extra: DeepReadonly<Cluster> = pulling): Judgement =>
  agentsCheck.judge(
    {
      clusters: [extra],
      renewals: new Map(
        heardSecondsAgo === undefined ? [] : [["paris", { atMs: NOW - heardSecondsAgo * 1000, holdsMs: 40_000 }]],
      ),
      managed: new Set(),
    },
    now,
  );
const kruise = (extra: object): Judgement =>
  openkruiseCheck.judge(
    [
      { name: "paris", isServed: true, version: "v1.9.1", manager: { ready: 1, wanted: 1 } },
      { name: "oslo", isServed: true, version: "v1.9.0", manager: { ready: 2, wanted: 2 }, ...extra },
    ],
    now,
  );
const disk = (free: number, storeBytes = 2 ** 20, savedMs?: number): Judgement =>
  dataCheck.judge({ directory: "/data", storeBytes, logBytes: 0, savedMs, free, total: 2 ** 40 }, now);
const members = (...clusters: DeepReadonly<Cluster>[]): Judgement => membersCheck.judge({ clusters, managed: [] }, now);

const cases: Record<string, Record<string, Case>> = {
  hub: {
    "a hub that responds is ok": {
      judged: hubCheck.judge({ server: "https://hub", version: "v1.36.3+flotilla", tookMs: 5, failing: [] }, now),
      verdict: "ok",
    },
    "a hub that does not respond is reported with the reason": {
      judged: hubCheck.judge(
        { server: "https://hub", version: "", tookMs: 0, failing: [], unreachable: "connection refused" },
        now,
      ),
      verdict: "problem",
      says: "connection refused",
    },
    "a hub on this machine can be started": {
      judged: hubCheck.judge(
        {
          server: "https://127.0.0.1:6443",
          version: "",
          tookMs: 0,
          failing: [],
          unreachable: "connection refused",
          startCommand: "flotilla apiserver --data /data/fleet",
        },
        now,
      ),
      verdict: "problem",
      says: "flotilla apiserver --data /data/fleet",
    },
    "an API server whose controllers never ran is a problem": {
      judged: hubCheck.judge(
        {
          server: "https://hub",
          version: "v1.36.3",
          tookMs: 5,
          failing: [],
          controllers: { state: "never" },
        },
        now,
      ),
      verdict: "problem",
      says: "No controllers have ever run on this hub",
    },
    "an API server whose controllers no longer renew their Lease is a problem": {
      judged: hubCheck.judge(
        {
          server: "https://hub",
          version: "v1.36.3",
          tookMs: 5,
          failing: [],
          controllers: { state: "silent", forMs: 7_000 },
        },
        now,
      ),
      verdict: "problem",
      says: "The hub's controllers have not renewed their Lease for 7s",
    },
    "a failing health check of the hub is a problem": {
      judged: hubCheck.judge({ server: "https://hub", version: "v1.36.3", tookMs: 5, failing: ["controllers"] }, now),
      verdict: "problem",
      says: "controllers",
    },
    "a store that has nearly used up its quota is a problem, by the hub's own check": {
      judged: hubCheck.judge(
        {
          server: "https://hub",
          version: "v1.36.3",
          tookMs: 5,
          failing: ["store-quota"],
          store: { usedBytes: 97 * 2 ** 20, quotaBytes: 100 * 2 ** 20 },
        },
        now,
      ),
      verdict: "problem",
      says: "store-quota: its store is full or nearly full",
    },
    "a store with room in its quota is ok": {
      judged: hubCheck.judge(
        {
          server: "https://hub",
          version: "v1.36.3",
          tookMs: 5,
          failing: [],
          store: { usedBytes: 12 * 2 ** 20, quotaBytes: 100 * 2 ** 20 },
        },
        now,
      ),
      verdict: "ok",
    },
    "another version is a warning": {
      judged: hubCheck.judge({ server: "https://hub", version: "v1.33.0", tookMs: 5, failing: [] }, now),
      verdict: "warning",
      says: "v1.33.0",
    },
  },
  certificates: {
    "years until expiry are ok": { judged: certificates(credential(-10, 355)), verdict: "ok" },
    "an expired certificate is a problem": {
      judged: certificates(credential(-365, -1)),
      verdict: "problem",
      says: "expired 24h ago",
    },
    "the last tenth of the lifetime is a warning": {
      judged: certificates(credential(-336, 29)),
      verdict: "warning",
      says: "expires in 29d",
    },
    "a one-hour certificate at half its lifetime is ok": {
      judged: certificates(credential(-0.02, 0.02)),
      verdict: "ok",
    },
    "a certificate that is not valid yet points to the clocks": {
      judged: certificates(credential(1, 366)),
      verdict: "problem",
      says: "flotilla doctor --only clocks",
    },
    "unreadable credentials are not reported as ok": {
      judged: certificatesCheck.judge(
        { credentials: [credential(-1, 365)], unseen: ["the credentials of paris: forbidden"] },
        now,
      ),
      verdict: "partly",
    },
  },
  clocks: {
    "one second of difference is ok": {
      judged: clocksCheck.judge({ readings: [{ whose: "hub", aheadMs: 900, uncertainMs: 600 }], unseen: [] }, now),
      verdict: "ok",
    },
    "ten seconds of difference are a warning": {
      judged: clocksCheck.judge(
        { readings: [{ whose: "member paris", aheadMs: -10_000, uncertainMs: 600 }], unseen: [] },
        now,
      ),
      verdict: "warning",
      says: "10 s behind",
    },
    "minutes of difference are a problem": {
      judged: clocksCheck.judge({ readings: [{ whose: "hub", aheadMs: 120_000, uncertainMs: 600 }], unseen: [] }, now),
      verdict: "problem",
      says: "120 s ahead of",
    },
    "a slow response makes the reading uncertain": {
      judged: clocksCheck.judge({ readings: [{ whose: "hub", aheadMs: 8_000, uncertainMs: 5_000 }], unseen: [] }, now),
      verdict: "ok",
    },
  },
  members: {
    "ready members are ok": { judged: members(cluster("paris"), cluster("oslo")), verdict: "ok" },
    "an unreachable member is a problem, with its address": {
      judged: members(
        cluster("paris", { status: { conditions: [condition("Ready", "False", "connection refused")] } }),
      ),
      verdict: "problem",
      says: "curl -k https://paris.example.com/readyz",
    },
    "a member that rejects the token is joined again": {
      judged: members(
        cluster("paris", {
          status: { conditions: [condition("Ready", "False", "the member does not accept the hub's token")] },
        }),
      ),
      verdict: "problem",
      says: "flotilla join paris",
    },
    "a member disconnected by annotation is reported with that annotation": {
      judged: members(
        cluster("paris", {
          metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } },
          status: { conditions: [condition("Ready", "False", "x")] },
        }),
      ),
      verdict: "problem",
      says: "simulation.flotilla.dev/fault-",
    },
    "a member whose annotation was removed is not to be unjoined": {
      judged: members(
        cluster("paris", {
          status: {
            conditions: [
              condition(
                "Ready",
                "False",
                "cluster is not reachable: cluster paris is cut off by its annotation simulation.flotilla.dev/fault",
              ),
            ],
          },
        }),
      ),
      verdict: "problem",
      says:
        "its annotation simulation.flotilla.dev/fault was removed, and the hub has not probed it since. Its " +
        "workloads keep running.\nIt recovers: wait until the hub reports it ready.\nkubectl wait " +
        "--for=condition=Ready clusters.cluster.karmada.io/paris",
    },
    "a taint set by a user is a warning, the hub's own is not": {
      judged: members(
        cluster("paris", {
          spec: {
            taints: [
              { key: "maintenance", effect: "NoExecute" },
              { key: "cluster.karmada.io/not-ready", effect: "NoSchedule" },
            ],
          },
        }),
      ),
      verdict: "warning",
      says: "flotilla taint paris maintenance-",
    },
    "a ManagedCluster without a Cluster is checked too": {
      judged: membersCheck.judge(
        {
          clusters: [],
          managed: [managed("oslo", true, [condition("ManagedClusterConditionAvailable", "Unknown", "lease")])],
        },
        now,
      ),
      verdict: "problem",
      says: "lease",
    },
  },
  agents: {
    "an agent with a fresh lease is ok": { judged: agents(5), verdict: "ok" },
    "an agent with an expired lease is a problem": {
      judged: agents(300),
      verdict: "problem",
      says: "last renewed its lease 5m ago",
    },
    "an agent without a lease is a problem": { judged: agents(), verdict: "problem", says: "never" },
    "an agent that reports its member as not ready is a problem": {
      judged: agents(
        5,
        cluster("paris", {
          spec: { syncMode: "Pull" },
          status: { conditions: [condition("Ready", "False", "no API server")] },
        }),
      ),
      verdict: "problem",
      says: "no API server",
    },
  },
  joins: {
    "no pending cluster is ok": {
      judged: joinsCheck.judge(
        { managed: [managed("paris", true)], requests: [request(["Approved"], { certificate: "x" })] },
        now,
      ),
      verdict: "ok",
    },
    "a cluster that was not accepted is reported once, together with its request": {
      judged: joinsCheck.judge({ managed: [managed("oslo", false)], requests: [request([])] }, now),
      verdict: "warning",
      says: "flotilla accept oslo",
    },
    "the request of a waiting karmadactl register is reported at once, with the command": {
      judged: joinsCheck.judge(
        {
          managed: [],
          requests: [
            made(
              "CertificateSigningRequest",
              "agent-rbac-generator-oslo1",
              { spec: { username: "system:bootstrap:abcdef" } },
              { creationTimestamp: ago(1) },
            ),
          ],
        },
        now,
      ),
      verdict: "warning",
      says: "kubectl certificate approve agent-rbac-generator-oslo1",
    },
    "an approved request without a certificate is a problem": {
      judged: joinsCheck.judge({ managed: [], requests: [request(["Approved", "Failed"])] }, now),
      verdict: "problem",
      says: "no signer",
    },
  },
  versions: {
    "nearby versions are ok": {
      judged: versionsCheck.judge(
        [cluster("paris"), cluster("oslo", { status: { kubernetesVersion: "v1.34.1" } })],
        now,
      ),
      verdict: "ok",
    },
    "an old member is a warning": {
      judged: versionsCheck.judge([cluster("paris", { status: { kubernetesVersion: "v1.28.0" } })], now),
      verdict: "warning",
      says: "Upgrade the member",
    },
    "a newer member is a warning": {
      judged: versionsCheck.judge([cluster("paris", { status: { kubernetesVersion: "v1.38.0" } })], now),
      verdict: "warning",
      says: "newer Flotilla",
    },
    "a member without reported APIs is unchecked": {
      judged: versionsCheck.judge([cluster("paris", { status: { kubernetesVersion: "" } })], now),
      verdict: "partly",
    },
  },
  apis: {
    "a served kind is ok": {
      judged: apis([serving("paris", "games.example.com/v1", "GameFleet")], [use()]),
      verdict: "ok",
    },
    "a missing kind is a problem, and its CRD is propagated": {
      judged: apis(
        [serving("paris", "v1", "Pod")],
        [use()],
        [["games.example.com/GameFleet", "gamefleets.games.example.com"]],
      ),
      verdict: "problem",
      says: '"clusterNames":["paris"]',
    },
    "a workload that is scheduled nowhere because of its kind counts for all members": {
      judged: apis(
        [serving("paris", "v1", "Pod"), serving("oslo", "v1", "Pod")],
        [use({ clusters: [], isRefused: true })],
      ),
      verdict: "problem",
      says: "paris, oslo do not serve it",
    },
    "another version is a warning": {
      judged: apis([serving("paris", "games.example.com/v2", "GameFleet")], [use()]),
      verdict: "warning",
      says: "only in another version",
    },
    "another version of an OpenKruise kind is converted": {
      judged: apis(
        [serving("paris", "apps.kruise.io/v1beta1", "CloneSet")],
        [use({ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" })],
      ),
      verdict: "ok",
    },
    "OpenKruise is installed by its chart": {
      judged: apis([serving("paris", "v1", "Pod")], [use({ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" })]),
      verdict: "problem",
      says: "helm install kruise",
    },
    "a member without reported APIs is unchecked": { judged: apis([cluster("paris")], [use()]), verdict: "partly" },
  },
  openkruise: {
    "a ready manager is ok": { judged: kruise({}), verdict: "ok" },
    "CRDs without a manager are a problem": {
      judged: openkruiseCheck.judge([{ name: "oslo", isServed: true }], now),
      verdict: "problem",
      says: "nothing creates their pods",
    },
    "a manager without ready pods is a problem": {
      judged: kruise({ manager: { ready: 0, wanted: 2 } }),
      verdict: "problem",
      says: "0 of 2",
    },
    "an old release is a warning": {
      judged: kruise({ version: "v1.2.0" }),
      verdict: "warning",
      says: "older than 1.4",
    },
    "releases more than two minors apart are a warning": {
      judged: kruise({ version: "v1.5.2" }),
      verdict: "warning",
      says: "v1.5.2 and v1.9.1",
    },
    "a pull-mode member is unchecked": { judged: kruise({ unseen: "it pulls" }), verdict: "partly" },
  },
  policies: {
    "a policy with objects is ok": { judged: policies([policy({ matched: 1 })]), verdict: "ok" },
    "a policy without objects is a warning": {
      judged: policies([policy({ matched: 0 })]),
      verdict: "warning",
      says: "no Deployment matches its selectors",
    },
    "a binding name that is taken is a problem": {
      judged: policies([
        policy({
          matched: 1,
          problems: [
            { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", reason: "BindingNameTaken", message: "taken" },
          ],
        }),
      ]),
      verdict: "problem",
      says: "Rename one of the objects",
    },
    "problems reported by the workload checks are not repeated": {
      judged: policies([
        policy({
          matched: 1,
          problems: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", reason: "NoClusterFit" }],
        }),
      ]),
      verdict: "ok",
    },
    "a cluster that is not a member is a warning": {
      judged: policies([
        policy({ matched: 1 }, { placement: { clusterAffinity: { clusterNames: ["oslo", "rome"] } } }),
      ]),
      verdict: "warning",
      says: "It names rome, which is not a member",
    },
    "a policy whose bindings are reported for its names is not reported again": {
      judged: policies(
        [
          {
            ...policy({ matched: 1 }, { placement: { clusterAffinity: { clusterNames: ["olso"] } } }),
            kind: "ClusterPropagationPolicy",
            metadata: { name: "all", creationTimestamp: new Date(0).toISOString() },
          },
        ],
        [misdirected("web")],
      ),
      verdict: "ok",
    },
    "a new policy that names a cluster that is not a member is a warning at once": {
      judged: policies([young(policy({}, { placement: { clusterAffinity: { clusterNames: ["rome"] } } }))]),
      verdict: "warning",
      says: "It names rome, which is not a member",
    },
    "a new policy without objects is not reported yet": { judged: policies([young(policy({}))]), verdict: "ok" },
    "a misspelt kind is a warning at once": {
      judged: policies([young(policy({}, { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deploymnet" }] }))]),
      verdict: "warning",
      says: "The hub does not serve Deploymnet in apps/v1 (did you mean 'Deployment'?), so the selector matches nothing.",
    },
    "ignored spread constraints are a warning": {
      judged: policies([
        policy(
          { matched: 1 },
          {
            placement: {
              spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1 }],
              replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
            },
          },
        ),
      ]),
      verdict: "warning",
      says: "Its spread constraints are ignored",
    },
    "a policy whose objects another with the same precedence has names that policy": {
      judged: policies([
        policy({ matched: 0 }),
        { ...policy({ matched: 1 }), metadata: { ...policy({}).metadata, name: "zeta" } },
      ]),
      verdict: "warning",
      says: "zeta selects the same objects with the same priority, so this policy has no effect on them",
    },
    "two policies for the same objects are one warning": {
      judged: policies([
        policy({ matched: 1 }),
        { ...policy({ matched: 1 }), metadata: { ...policy({}).metadata, name: "other" } },
      ]),
      verdict: "warning",
      says: "other selects the same objects with the same priority",
    },
  },
  bindings: {
    "a scheduled binding is ok": {
      judged: bindings([claimed(binding([condition("Scheduled", "True")]))]),
      verdict: "ok",
    },
    "a scheduled binding without a policy is a problem at once, and no command deletes its copies": {
      judged: bindings([
        binding([condition("Scheduled", "True", "", "Success", 1)], { clusters: [{ name: "oslo", replicas: 2 }] }),
      ]),
      verdict: "problem",
      says:
        "Members keep the copies, and changed replicas do not reach them.\nApply a policy that selects it again, " +
        "or delete the binding, which deletes copies on members.\nflotilla why deployment/web -n shop",
    },
    "an unscheduled binding is a problem": {
      judged: bindings([claimed(binding([condition("Scheduled", "False", "0/3 clusters", "NoClusterFit")]))]),
      verdict: "problem",
      says: "flotilla why deployment/web -n shop",
    },
    "an unscheduled binding without a policy is a problem for which no object is to be deleted": {
      judged: bindings([binding([condition("Scheduled", "False", "0/3 clusters", "NoClusterFit")])]),
      verdict: "problem",
      says:
        "No policy selects it any longer, and its binding remains.\nApply a policy that selects it again, or " +
        "delete the binding, which deletes copies on members.\nkubectl delete resourcebinding web-deployment -n " +
        "shop",
    },
    "a binding that has just found too little capacity is not reported yet": {
      judged: bindings([claimed(binding([condition("Scheduled", "False", "not enough", "Unschedulable", 5)]))]),
      verdict: "ok",
    },
    "a binding that cannot be dispatched is a problem": {
      judged: bindings([
        claimed(binding([condition("Scheduled", "True"), condition("Dispatched", "False", "no path", "RenderFailed")])),
      ]),
      verdict: "problem",
      says: "RenderFailed",
    },
    "bindings whose policy names no member are one problem of the policy": {
      judged: bindings(["web", "cart"].map((name) => misdirected(name))),
      verdict: "problem",
      says: "It names olso, which is not a member, so 2 objects are not scheduled: Deployment shop/web, Deployment shop/cart.",
    },
    "a binding that was never scheduled is a problem": {
      judged: bindings([claimed(binding([]))]),
      verdict: "problem",
      says: "It was never scheduled",
    },
    "a dependency is not scheduled itself": {
      judged: bindings([binding([], { requiredBy: [{}] })]),
      verdict: "ok",
    },
  },
  works: {
    "an applied Work is ok": { judged: worksCheck.judge([work(condition("Applied", "True"))], now), verdict: "ok" },
    "a rejected Work is a problem": {
      judged: worksCheck.judge([work(condition("Applied", "False", "denied by quota", "AppliedFailed"))], now),
      verdict: "problem",
      says: "denied by quota",
    },
    "a missing kind points to the apis check": {
      judged: worksCheck.judge([work(condition("Applied", "False", "x", "KindNotServed"))], now),
      verdict: "problem",
      says: "--only apis --clusters paris",
    },
    "an unreachable member points to the members check": {
      judged: worksCheck.judge([work(condition("Applied", "False", "x", "MemberUnreachable"))], now),
      verdict: "problem",
      says: "--only members --clusters paris",
    },
    "an unmanaged object of the same name points to adopt": {
      judged: worksCheck.judge(
        [work(condition("Applied", "False", "it already exists and is not managed", "AppliedFailed"))],
        now,
      ),
      verdict: "problem",
      says: "flotilla adopt deployment/web -n shop --from paris",
    },
  },
  ocm: {
    "no use of Open Cluster Management is ok": {
      judged: ocmCheck.judge({ works: [], placements: [], sets: [] }, now),
      verdict: "ok",
    },
    "a rejected ManifestWork is a problem": {
      judged: ocmCheck.judge(
        {
          works: [
            made("ManifestWork", "web", { status: { conditions: [condition("Applied", "False", "no such kind")] } }),
          ],
          placements: [],
          sets: [],
        },
        now,
      ),
      verdict: "problem",
      says: "flotilla why manifestwork/web",
    },
    "a Placement without clusters is a problem": {
      judged: ocmCheck.judge(
        {
          works: [],
          placements: [
            made("Placement", "web", {
              status: { conditions: [condition("PlacementSatisfied", "False", "no set is bound")] },
            }),
          ],
          sets: [],
        },
        now,
      ),
      verdict: "problem",
      says: "no set is bound",
    },
    "the fix for a Placement without clusters is about its cause": {
      judged: ocmCheck.judge(
        {
          works: [],
          placements: [
            made("Placement", "web", {
              status: {
                conditions: [
                  { ...condition("PlacementSatisfied", "False", "none"), reason: "NoManagedClusterMatched" },
                ],
              },
            }),
          ],
          sets: [],
        },
        now,
      ),
      verdict: "problem",
      says: "Compare spec.predicates with the labels and claims of the clusters",
    },
  },
  webhooks: {
    "webhooks that answer and available servers are ok": {
      judged: calledPrograms({
        services: [aggregated("True")],
        failing: [{ labels: { name: "a.example", type: "validating", configuration: "a" }, value: 0 }],
        calls: [{ labels: { name: "a.example" }, value: 4 }],
        seconds: [{ labels: { name: "a.example" }, value: 0.1 }],
      }),
      verdict: "ok",
    },
    "an admission webhook whose last calls failed is a problem": {
      judged: calledPrograms({
        failing: [{ labels: { name: "a.example", type: "validating", configuration: "a" }, value: 3 }],
      }),
      verdict: "problem",
      says: "Its last 3 calls failed",
    },
    "a webhook that a member could not call for a Work is a problem": {
      judged: calledPrograms({
        uncalled: [{ cluster: "oslo", webhook: "dead.example", message: "ECONNREFUSED" }],
      }),
      verdict: "problem",
      says: "It does not respond, so that 1 Work is not applied: ECONNREFUSED",
    },
    "a conversion webhook whose last call failed is a problem": {
      judged: calledPrograms({ failingConversions: [{ labels: { crd_name: "widgets.example.com" }, value: 1 }] }),
      verdict: "problem",
      says: "kubectl get crd widgets.example.com -o yaml",
    },
    "an unavailable aggregated server is a problem, with its message": {
      judged: calledPrograms({ services: [aggregated("False")] }),
      verdict: "problem",
      says: 'It is unavailable for 60s: service/fish in "default" is not present (ServiceNotFound)',
    },
    "a slow admission webhook is a warning": {
      judged: calledPrograms({
        calls: [
          { labels: { name: "a.example", operation: "CREATE" }, value: 1 },
          { labels: { name: "a.example", operation: "UPDATE" }, value: 3 },
        ],
        seconds: [{ labels: { name: "a.example" }, value: 8 }],
      }),
      verdict: "warning",
      says: "It takes 2.0 s on average",
    },
  },
  interpreters: {
    "no failing rule is ok": { judged: rules({ customizations: [gamefleet(SCRIPT)] }), verdict: "ok" },
    "a failed rule is a problem, with its script": {
      judged: rules({ failing: [failed], customizations: [gamefleet(SCRIPT)] }),
      verdict: "problem",
      says: "kubectl edit resourceinterpretercustomization gamefleet",
    },
    "a rule that fails on members is one problem, with their names": {
      judged: rules({
        works: ["m1", "m2"].map((member) => failingOn(member)),
        customizations: [gamefleet(SCRIPT)],
      }),
      verdict: "problem",
      says: "on m1, m2: running InterpretHealth of ResourceInterpreterCustomization gamefleet: nil (Reason, 10m ago)",
    },
    "a failure of a rule that was deleted is ignored": {
      judged: rules({ failing: [failed] }),
      verdict: "ok",
    },
    "a failure that names no customization is a problem": {
      judged: rules({ failing: [{ ...failed, message: "dividing GameFleet eu: ReviseReplica changes nothing" }] }),
      verdict: "problem",
      says: "changes nothing",
    },
    "a script that does not compile is a problem": {
      judged: rules({ customizations: [gamefleet("function GetReplicas(")] }),
      verdict: "problem",
      says: "--check",
    },
    "a script in quarantine is a problem": {
      judged: rules({
        quarantined: [{ labels: { customization: "gamefleet", operation: "InterpretReplica" }, value: 1 }],
      }),
      verdict: "problem",
      says: "exceeded its limits",
    },
    "a webhook whose last call failed is a warning": {
      judged: rules({
        webhooksFailing: [{ labels: GET_OF_WEBHOOK, value: 1 }],
        webhookFailures: [{ labels: { ...GET_OF_WEBHOOK, reason: "timeout" }, value: 3 }],
      }),
      verdict: "warning",
      says: "Its last call for InterpretReplica failed; 3 calls failed (timeout) since the hub started or the configuration changed.",
    },
    "a webhook that works again is ok": {
      judged: rules({
        webhooksFailing: [{ labels: GET_OF_WEBHOOK, value: 0 }],
        webhookFailures: [{ labels: { ...GET_OF_WEBHOOK, reason: "timeout" }, value: 3 }],
      }),
      verdict: "ok",
    },
    "a script whose last call failed is a warning": {
      judged: rules({
        customizations: [gamefleet(SCRIPT)],
        scriptsFailing: [{ labels: REVISE, value: 1 }],
        scriptFailures: [{ labels: { ...REVISE, reason: "error" }, value: 28 }],
      }),
      verdict: "warning",
      says: "The last call of its ReviseReplica failed; 28 calls failed (error) since the hub started or the script changed.",
    },
    "a script that was corrected is ok": {
      judged: rules({
        customizations: [gamefleet(SCRIPT)],
        scriptsFailing: [{ labels: REVISE, value: 0 }],
        scriptFailures: [{ labels: { ...REVISE, reason: "error" }, value: 28 }],
      }),
      verdict: "ok",
    },
  },
  drift: {
    "copies without drift are ok": {
      judged: driftCheck.judge([work(condition("Applied", "True"))], now),
      verdict: "ok",
    },
    "drift that is only reported is a warning": {
      judged: driftCheck.judge(
        [work(condition("Drifted", "True", "spec.replicas is 7 instead of 3", "ReportOnly"))],
        now,
      ),
      verdict: "warning",
      says: "is 7 instead of 3",
    },
    "drift that was just repaired is a warning": {
      judged: driftCheck.judge([work(condition("Drifted", "False", "was 7", "Repaired", 30))], now),
      verdict: "warning",
      says: "Reverted 30s ago",
    },
    "drift that was repaired long ago is ignored": {
      judged: driftCheck.judge([work(condition("Drifted", "False", "was 7", "Repaired", 90_000))], now),
      verdict: "ok",
    },
    "an unmanaged object is a warning": {
      judged: driftCheck.judge([work(condition("Managed", "False", "", "Released"))], now),
      verdict: "warning",
      says: "It is unmanaged",
    },
  },
  finalizers: {
    "a recent deletion is not reported yet": { judged: deleting({ sinceMs: NOW - 5_000 }), verdict: "ok" },
    "a Work that waits for its member is reported with the fix": {
      judged: deleting(),
      verdict: "problem",
      says: "flotilla unjoin paris --force",
    },
    "a copy that a finalizer holds on a member that works is reported without the advice to unjoin the member": {
      judged: deleting({ heldThere: "configmap/copy -n team" }),
      verdict: "problem",
      says: "flotilla get configmap/copy -n team --clusters paris -o yaml",
    },
    "an unknown finalizer is reported with a patch that keeps Flotilla's own": {
      judged: deleting({ finalizers: ["karmada.io/execution-controller", "example.com/hold"] }),
      verdict: "problem",
      says: `{"metadata":{"finalizers":["karmada.io/execution-controller"]}}`,
    },
    "between one and two times --stuck-after a deletion is a warning": {
      judged: deleting({ sinceMs: NOW - 90_000 }),
      verdict: "warning",
    },
    "a namespace reports its remaining content": {
      judged: deleting({
        kind: "Namespace",
        type: "namespaces",
        namespace: undefined,
        name: "shop",
        finalizers: ["kubernetes"],
        remaining: "Some content has finalizers remaining",
      }),
      verdict: "problem",
      says: "Some content has finalizers remaining",
    },
  },
  data: {
    "enough free space is ok": { judged: disk(2 ** 35), verdict: "ok" },
    "little free space is a warning": { judged: disk(2 ** 30), verdict: "warning", says: "1.0 GiB" },
    "too little free space is a problem": { judged: disk(2 ** 20), verdict: "problem", says: "flotilla snapshot save" },
    "a fleet without snapshots is ok": { judged: disk(2 ** 35), verdict: "ok" },
    "a recent snapshot is ok": { judged: disk(2 ** 35, 2 ** 20, NOW - 86_400_000), verdict: "ok" },
    "an old snapshot is a warning": {
      judged: disk(2 ** 35, 2 ** 20, NOW - 10 * 86_400_000),
      verdict: "warning",
      says: "10d ago",
    },
    "a hub on another machine is skipped": { judged: dataCheck.judge(undefined, now), verdict: "skipped" },
  },
};

for (const [check, each] of Object.entries(cases)) {
  describe(`${check}:`, () => {
    for (const [behaviour, { judged, verdict, says }] of Object.entries(each)) {
      test(behaviour, () => {
        const [first] = judged.findings;

        expect(verdictOf(judged)).toBe(verdict);
        expect([first?.seen, first?.fix, ...(first?.commands ?? [])].join("\n")).toContain(says ?? "");
      });
    }
  });
}

test("a member that lacks a kind of OpenKruise that others of its version serve is named", () => {
  const on = (name: string, ...kinds: string[]) => ({ name, isServed: true, kinds, version: "v1.9.1" });

  const { seen } = openkruiseCheck.judge([on("oslo", "CloneSet", "DaemonSet"), on("paris", "DaemonSet")], now);

  expect(seen).toBe("2 of 2 members have it: v1.9.1; paris does not serve CloneSet");
});

test("a ManifestWork that was rejected just now is counted, and is not a problem yet", () => {
  const status = { conditions: [condition("Applied", "False", "no such kind")] };
  const young = made("ManifestWork", "web", { status }, { creationTimestamp: "2026-05-01T11:59:30Z" });

  const { seen, findings } = ocmCheck.judge({ works: [young], placements: [], sets: [] }, now);

  expect([seen, findings]).toEqual([
    "1 ManifestWork, 0 Placements, 0 ManifestWorkReplicaSets, 0 unhealthy, 1 more not healthy, created less than 60 s ago",
    [],
  ]);
});

test("bindings that a deleted policy left are one finding", () => {
  const left = ["a", "b", "c", "d"].map((name) =>
    binding([condition("Scheduled", "False", "0/3 clusters", "NoClusterFit")], {
      resource: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name },
    }),
  );

  const { seen, findings } = bindings(left);

  expect(seen).toBe("4 bindings, 0 not scheduled or not dispatched, 4 without a policy");
  expect(findings.map((finding) => [finding.about, finding.seen])).toEqual([
    [
      "4 bindings without a policy",
      "No policy selects these objects any longer, and their bindings remain: CustomResourceDefinition a, " +
        "CustomResourceDefinition b, CustomResourceDefinition c and 1 more.",
    ],
  ]);
});
