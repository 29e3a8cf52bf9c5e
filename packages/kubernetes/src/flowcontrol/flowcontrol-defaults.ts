/**
 * The priority levels and flow schemas that every cluster has from the start, as Kubernetes defines them. The mandatory
 * ones always exist; the suggested ones may be changed and deleted.
 */
import {
  ACCOUNTS_GROUP,
  AUTHENTICATED_GROUP,
  MASTERS_GROUP,
  NODES_GROUP,
  UNAUTHENTICATED_GROUP,
} from "../rbac/identities.ts";
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import type { FlowSchema } from "./flow-schema-kind.ts";
import type { PriorityLevelConfiguration } from "./priority-level-kind.ts";

const API_VERSION = "flowcontrol.apiserver.k8s.io/v1";
const AUTO_UPDATE = { "apf.kubernetes.io/autoupdate-spec": "true" };
const ALL = ["*"];

const limited = (
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues?: number,
  handSize = 6,
): PriorityLevelConfigurationSpec => ({
  type: "Limited",
  limited: {
    nominalConcurrencyShares,
    lendablePercent,
    limitResponse:
      queues === undefined
        ? { type: "Reject" }
        : { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } },
  },
});

const MANDATORY_LEVELS: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  "catch-all": limited(5, 0),
};
const SUGGESTED_LEVELS: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  system: limited(30, 33, 64),
  "node-high": limited(40, 25, 64),
  "leader-election": limited(10, 0, 16, 4),
  "workload-high": limited(40, 50, 128),
  "workload-low": limited(100, 90, 128),
  "global-default": limited(20, 50, 128),
};

const groups = (...names: string[]): Subject[] => names.map((name) => ({ kind: "Group", group: { name } }));
const users = (...names: string[]): Subject[] => names.map((name) => ({ kind: "User", user: { name } }));
const KUBE_SYSTEM_ACCOUNTS: Subject = {
  kind: "ServiceAccount",
  serviceAccount: { namespace: "kube-system", name: "*" },
};
const EVERY_RESOURCE: ResourcePolicyRule = {
  verbs: ALL,
  apiGroups: ALL,
  resources: ALL,
  clusterScope: true,
  namespaces: ALL,
};
const EVERY_URL: NonResourcePolicyRule = { verbs: ALL, nonResourceURLs: ALL };
const everything = (subjects: Subject[]): PolicyRulesWithSubjects => ({
  subjects,
  resourceRules: [EVERY_RESOURCE],
  nonResourceRules: [EVERY_URL],
});
const leases = (verbs: string[]): ResourcePolicyRule => ({
  verbs,
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  namespaces: ALL,
});
const EVERYONE = groups(UNAUTHENTICATED_GROUP, AUTHENTICATED_GROUP);

interface Schema {
  level: string;
  precedence: number;
  by?: "ByUser" | "ByNamespace";
  rules: PolicyRulesWithSubjects[];
}

const MANDATORY_SCHEMAS: Readonly<Record<string, Schema>> = {
  exempt: { level: "exempt", precedence: 1, rules: [everything(groups(MASTERS_GROUP))] },
  "catch-all": { level: "catch-all", precedence: 10_000, by: "ByUser", rules: [everything(EVERYONE)] },
};
const SUGGESTED_SCHEMAS: Readonly<Record<string, Schema>> = {
  probes: {
    level: "exempt",
    precedence: 2,
    rules: [
      {
        subjects: EVERYONE,
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
      },
    ],
  },
  "system-leader-election": {
    level: "leader-election",
    precedence: 100,
    by: "ByUser",
    rules: [
      {
        subjects: [...users("system:kube-controller-manager", "system:kube-scheduler"), KUBE_SYSTEM_ACCOUNTS],
        resourceRules: [leases(["get", "create", "update"])],
      },
    ],
  },
  "system-node-high": {
    level: "node-high",
    precedence: 400,
    by: "ByUser",
    rules: [
      {
        subjects: groups(NODES_GROUP),
        resourceRules: [
          { verbs: ALL, apiGroups: [""], resources: ["nodes", "nodes/status"], clusterScope: true, namespaces: ALL },
          leases(ALL),
        ],
      },
    ],
  },
  "system-nodes": { level: "system", precedence: 500, by: "ByUser", rules: [everything(groups(NODES_GROUP))] },
  "kube-controller-manager": {
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    rules: [everything(users("system:kube-controller-manager"))],
  },
  "kube-scheduler": {
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    rules: [everything(users("system:kube-scheduler"))],
  },
  "kube-system-service-accounts": {
    level: "workload-high",
    precedence: 900,
    by: "ByNamespace",
    rules: [everything([KUBE_SYSTEM_ACCOUNTS])],
  },
  "service-accounts": {
    level: "workload-low",
    precedence: 9000,
    by: "ByUser",
    rules: [everything(groups(ACCOUNTS_GROUP))],
  },
  "global-default": { level: "global-default", precedence: 9900, by: "ByUser", rules: [everything(EVERYONE)] },
};

const metadataOf = (name: string): FlowSchema["metadata"] => ({ name, generation: 1, annotations: { ...AUTO_UPDATE } });

const levelsOf = (specs: Readonly<Record<string, PriorityLevelConfigurationSpec>>): PriorityLevelConfiguration[] =>
  Object.entries(specs).map(([name, spec]) => ({
    apiVersion: API_VERSION,
    kind: "PriorityLevelConfiguration",
    metadata: metadataOf(name),
    spec,
    status: {},
  }));

function schemasOf(schemas: Readonly<Record<string, Schema>>, since: string): FlowSchema[] {
  return Object.entries(schemas).map(([name, { level, precedence, by, rules }]) => ({
    apiVersion: API_VERSION,
    kind: "FlowSchema",
    metadata: metadataOf(name),
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      distinguisherMethod: by ? { type: by } : undefined,
      rules,
    },
    status: { conditions: [foundCondition(level, since)] },
  }));
}

/** The condition of a schema whose priority level exists. */
export const foundCondition = (level: string, since: string) => ({
  type: "Dangling",
  status: "False",
  lastTransitionTime: since,
  reason: "Found",
  message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} and it exists`,
});

export const danglingCondition = (level: string, since: string) => ({
  type: "Dangling",
  status: "True",
  lastTransitionTime: since,
  reason: "NotFound",
  message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} but there is no such object`,
});

export const mandatoryPriorityLevels = (): PriorityLevelConfiguration[] => levelsOf(MANDATORY_LEVELS);
export const mandatoryFlowSchemas = (since = ""): FlowSchema[] => schemasOf(MANDATORY_SCHEMAS, since);

/**
 * For controllers of a product with this prefix and group: their Leases do not wait for their other requests, and those
 * are as important as those of Kubernetes' own controllers.
 */
export const controllerFlowSchemas = (prefix: string, group: string, since: string): FlowSchema[] =>
  schemasOf(
    {
      [`${prefix}-leader-election`]: {
        level: "leader-election",
        precedence: 100,
        by: "ByUser",
        rules: [{ subjects: groups(group), resourceRules: [leases(ALL)] }],
      },
      [`${prefix}-controllers`]: {
        level: "workload-high",
        precedence: 800,
        by: "ByNamespace",
        rules: [everything(groups(group))],
      },
    },
    since,
  );

/** What a new cluster has. */
export function flowControlDefaults(since: string): (FlowSchema | PriorityLevelConfiguration)[] {
  return [
    ...mandatoryPriorityLevels(),
    ...levelsOf(SUGGESTED_LEVELS),
    ...mandatoryFlowSchemas(since),
    ...schemasOf(SUGGESTED_SCHEMAS, since),
  ];
}
