import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import type { ResourceInterpreterWebhook } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import { problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { resourceInterpreterWebhookConfigurationRules as admissions } from "./interpreter-webhook-rules.ts";
import type { ResourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration-kind.ts";

const webhook: ResourceInterpreterWebhook = {
  name: "workloads.example.com",
  clientConfig: { url: "https://interpreter.example.com/interpret" },
  rules: [
    {
      operations: ["InterpretReplica"],
      apiGroups: ["workload.example.io"],
      apiVersions: ["v1alpha1"],
      kinds: ["Workload"],
    },
  ],
  interpreterContextVersions: ["v1alpha1"],
};
const [rule] = webhook.rules ?? [];

function problems(...webhooks: object[]): string[] {
  const configuration = {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterWebhookConfiguration",
    metadata: { name: "examples" },
    webhooks,
  };
  return problemsOf(admissions, configuration as ResourceInterpreterWebhookConfiguration);
}

describe("a configuration of interpreter webhooks", () => {
  const service = { namespace: "default", name: "interpreter" };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const BROKEN_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  const fine: Record<string, object> = {
    "may name a URL": {},
    "may name a Service with a path, and omit the port": {
      clientConfig: { service: { ...service, path: "/interpret/v1" } },
    },
    "may have a CA bundle": {
      clientConfig: { url: "https://10.0.0.1:9443", caBundle: base64(`${BROKEN_CERTIFICATE}${rootCertificates[0]}`) },
    },
    "may match all operations, groups, versions and kinds": {
      rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], kinds: ["*"] }],
    },
    "may match a kind of the core group": { rules: [{ ...rule, apiGroups: [""] }] },
    "may have no rules": { rules: undefined },
    "may list further interpreter context versions": { interpreterContextVersions: ["v1beta1", "v1alpha1"] },
  };
  for (const [behaviour, fields] of Object.entries(fine)) {
    test(behaviour, () => {
      expect(problems({ ...webhook, ...fields })).toEqual([]);
    });
  }

  const URL_FORM = "; desired format: https://host[/path]";
  const SUPPORTED =
    '"*", "AggregateStatus", "InterpretComponent", "InterpretDependency", "InterpretHealth", "InterpretReplica", "InterpretStatus", "Retain", "ReviseReplica"';
  const at = "webhooks[0]";
  const cases: Record<string, { fields: object; want: string[] }> = {
    "needs a name": { fields: { name: "" }, want: [`${at}.name: Required value`] },
    "needs a fully qualified name": {
      fields: { name: "workloads" },
      want: [`${at}.name: Invalid value: "workloads": should be a domain with at least two segments separated by dots`],
    },
    "needs a URL or a Service": {
      fields: { clientConfig: {} },
      want: [`${at}.clientConfig: Required value: exactly one of url or service is required`],
    },
    "cannot have both a URL and a Service": {
      fields: { clientConfig: { url: "https://a.example.com", service } },
      want: [`${at}.clientConfig: Required value: exactly one of url or service is required`],
    },
    "must use HTTPS": {
      fields: { clientConfig: { url: "http://a.example.com" } },
      want: [`${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${URL_FORM}`],
    },
    "needs a host in the URL": {
      fields: { clientConfig: { url: "https:interpret" } },
      want: [`${at}.clientConfig.url: Invalid value: "": host must be specified${URL_FORM}`],
    },
    "allows no user, query or fragment in the URL": {
      fields: { clientConfig: { url: "https://me:secret@a.example.com/x?y=1#z" } },
      want: [
        `${at}.clientConfig.url: Invalid value: "me:secret": user information is not permitted in the URL`,
        `${at}.clientConfig.url: Invalid value: "z": fragments are not permitted in the URL`,
        `${at}.clientConfig.url: Invalid value: "y=1": query parameters are not permitted in the URL`,
      ],
    },
    "needs a valid Service reference": {
      fields: { clientConfig: { service: { namespace: "", name: "", port: 0, path: "interpret" } } },
      want: [
        `${at}.clientConfig.service.name: Required value`,
        `${at}.clientConfig.service.namespace: Required value`,
        `${at}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
        `${at}.clientConfig.service.path: Invalid value: "interpret": must start with a '/'`,
      ],
    },
    "needs certificates in its CA bundle": {
      fields: { clientConfig: { url: "https://a.example.com", caBundle: base64(BROKEN_CERTIFICATE) } },
      want: [
        `${at}.clientConfig.caBundle: Invalid value: unable to load root certificates: unable to parse bytes as PEM block`,
      ],
    },
    "has a timeout of at least one second": {
      fields: { timeoutSeconds: 0 },
      want: [`${at}.timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds`],
    },
    "has a timeout of at most 30 seconds": {
      fields: { timeoutSeconds: 31 },
      want: [`${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`],
    },
    "rejects an unknown operation": {
      fields: { rules: [{ ...rule, operations: ["Prune"] }] },
      want: [`${at}.rules[0].operations[0]: Unsupported value: "Prune": supported values: ${SUPPORTED}`],
    },
    "rejects other operations beside *": {
      fields: { rules: [{ ...rule, operations: ["*", "Retain"] }] },
      want: [
        `${at}.rules[0].operations: Invalid value: ["*","Retain"]: if '*' is present, must not specify other operations`,
      ],
    },
    "needs operations, groups, versions and kinds in a rule": {
      fields: { rules: [{ operations: [], apiGroups: [], apiVersions: [], kinds: [] }] },
      want: ["operations", "apiGroups", "apiVersions", "kinds"].map(
        (field) => `${at}.rules[0].${field}: Required value`,
      ),
    },
    "rejects an empty version or kind": {
      fields: { rules: [{ ...rule, apiVersions: [""], kinds: ["Workload", ""] }] },
      want: [`${at}.rules[0].apiVersions[0]: Required value`, `${at}.rules[0].kinds[1]: Required value`],
    },
    "needs an interpreter context version": {
      fields: { interpreterContextVersions: [] },
      want: [`${at}.interpreterContextVersions: Required value: must specify one of v1alpha1`],
    },
    "needs a known interpreter context version": {
      fields: { interpreterContextVersions: ["v2"] },
      want: [`${at}.interpreterContextVersions: Invalid value: ["v2"]: must include at least one of v1alpha1`],
    },
    "rejects duplicate interpreter context versions": {
      fields: { interpreterContextVersions: ["v1alpha1", "v1alpha1"] },
      want: [`${at}.interpreterContextVersions[1]: Invalid value: "v1alpha1": duplicate version`],
    },
  };
  for (const [behaviour, { fields, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems({ ...webhook, ...fields })).toEqual(want);
    });
  }

  test("rejects duplicate webhook names", () => {
    const found = problems(webhook, webhook);

    expect(found).toEqual(['webhooks[1].name: Duplicate value: "workloads.example.com"']);
  });
});
