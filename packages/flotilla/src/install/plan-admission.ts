/**
 * How the API server of an existing cluster asks for our rules: one webhook for each kind, with the name of the upstream
 * webhook that has the rule, and policies where an expression can say it. Pure.
 */
import { omitZero } from "@flotilla/base";
import type { AnyStep, Kind, Operation } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import {
  KARMADA_AGENTS_GROUP,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
  DELETION_PROTECTED,
} from "@flotilla/karmada";
import { INSTALLED_LABELS, WEBHOOK_PATHS, WEBHOOKS_NAME } from "./install-names.ts";
import type { ServiceReference } from "./plan-definitions.ts";

export interface AdmissionPlanOptions {
  kinds: readonly Kind[];
  steps: readonly AnyStep[];
  service: ServiceReference;
  /** Versions of a kind that only the API server of the cluster serves. */
  moreVersions(kind: Kind): readonly string[];
}

const API_VERSION = "admissionregistration.k8s.io/v1";
const TIMEOUT_SECONDS = 10;
const ALL: readonly Operation[] = ["CREATE", "UPDATE", "DELETE"];

type Verb = keyof Pick<AnyStep, "canonical" | "mutate" | "complete" | "prepare" | "validate" | "warnings" | "check">;
const CHANGING: readonly Verb[] = ["canonical", "mutate", "complete", "prepare"];
const REJECTING: readonly Verb[] = ["validate", "warnings", "check"];

export function planAdmission(options: AdmissionPlanOptions): JsonObject[] {
  const { service } = options;
  const configuration = (kind: string, webhooks: JsonObject[]): JsonObject => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name: WEBHOOKS_NAME, labels: { ...INSTALLED_LABELS } },
    webhooks,
  });
  return [
    ...planPolicies(),
    configuration("MutatingWebhookConfiguration", webhooksOfKinds(options, CHANGING, WEBHOOK_PATHS.mutate)),
    configuration("ValidatingWebhookConfiguration", [
      ...webhooksOfKinds(options, REJECTING, WEBHOOK_PATHS.validate),
      agentWebhook(service),
      executionNamespaceWebhook(service),
    ]),
  ];
}

function webhooksOfKinds(
  { kinds, steps, service, moreVersions }: AdmissionPlanOptions,
  verbs: readonly Verb[],
  path: string,
): JsonObject[] {
  return kinds.flatMap((kind) => {
    const concerned = steps.filter((step) => isFor(step, kind) && verbs.some((verb) => step[verb] !== undefined));
    const operations = ALL.filter((operation) => concerned.some(({ on }) => on.includes(operation)));
    if (operations.length === 0) return [];
    const name = concerned.find(({ webhook }) => webhook)?.webhook?.name ?? `${kind.plural}.${kind.group}`;
    const versions = [...Object.keys(kind.versions), ...moreVersions(kind)];
    return [
      webhook({ name, service, path }, [
        { apiGroups: [kind.group], apiVersions: versions, resources: [kind.plural], operations, scope: "*" },
      ]),
    ];
  });
}

function isFor({ for: selected }: AnyStep, kind: Kind): boolean {
  // Steps for every kind have a webhook of their own.
  if (selected === undefined) return false;
  return typeof selected === "function" ? selected(kind) : selected.group === kind.group && selected.kind === kind.kind;
}

function webhook(
  { name, service, path }: { name: string; service: ServiceReference; path: string },
  rules: JsonObject[],
  matchConditions?: JsonObject[],
): JsonObject {
  return {
    name,
    admissionReviewVersions: ["v1"],
    clientConfig: { service: { ...service, path } },
    // The versions are listed: converted, an object would not be what was sent.
    matchPolicy: "Exact",
    rules,
    ...omitZero({ matchConditions }),
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: TIMEOUT_SECONDS,
  };
}

/** Agents write many kinds, and each only its own objects. Writes of other users do not call it. */
const agentWebhook = (service: ServiceReference): JsonObject =>
  webhook(
    { name: "agents.admission.flotilla.dev", service, path: WEBHOOK_PATHS.validate },
    [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: [...ALL], scope: "*" }],
    [
      {
        name: "is-agent",
        expression: `'${KARMADA_AGENTS_GROUP}' in request.userInfo.groups || request.userInfo.username.startsWith('system:karmada:agent:')`,
      },
    ],
  );

/** Whether the member of an execution namespace has left is known from its Cluster, which no expression can read. */
const executionNamespaceWebhook = (service: ServiceReference): JsonObject =>
  webhook(
    { name: "namespaces.admission.flotilla.dev", service, path: WEBHOOK_PATHS.validate },
    [{ apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["DELETE"], scope: "Cluster" }],
    [{ name: "is-of-member", expression: "request.name.startsWith('karmada-es-')" }],
  );

/** Rules that need nothing but the request. */
function planPolicies(): JsonObject[] {
  return [
    ...policy("deletion-protection.flotilla.dev", {
      rule: { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["DELETE"] },
      objectSelector: { matchLabels: { [DELETION_PROTECTED]: "Always" } },
      validation: {
        expression:
          `!has(oldObject.metadata.labels) || !('${DELETION_PROTECTED}' in oldObject.metadata.labels) || ` +
          `oldObject.metadata.labels['${DELETION_PROTECTED}'] != 'Always'`,
        message: `This resource is protected, please make sure to remove the label: ${DELETION_PROTECTED}`,
        reason: "Forbidden",
      },
    }),
    ...policy("hub-namespaces.flotilla.dev", {
      rule: { apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["DELETE"] },
      validation: {
        expression: `!(request.name in ['${KARMADA_SYSTEM_NAMESPACE}', '${KARMADA_CLUSTER_NAMESPACE}'])`,
        message:
          "this namespace contains the Works and Secrets of members; deleting it would delete their workloads. Run 'flotilla uninstall' first",
        reason: "Forbidden",
      },
    }),
  ];
}

function policy(
  name: string,
  { rule, objectSelector, validation }: { rule: JsonObject; objectSelector?: JsonObject; validation: JsonObject },
): JsonObject[] {
  const metadata = { name, labels: { ...INSTALLED_LABELS } };
  return [
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: { resourceRules: [rule], ...omitZero({ objectSelector }) },
        validations: [validation],
      },
    },
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
}
