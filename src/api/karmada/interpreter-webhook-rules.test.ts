import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import type { ResourceInterpreterWebhook } from "../facts/config-karmada-v1alpha1.ts";
import { problemsOf } from "../test-review.ts";
import {
  admissions,
  type ResourceInterpreterWebhookConfiguration,
} from "./resource-interpreter-webhook-configuration.ts";

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
    "may name a Service with a path, and then leaves the port out": {
      clientConfig: { service: { ...service, path: "/interpret/v1" } },
    },
    "may bring the certificates that the server is known by": {
      clientConfig: { url: "https://10.0.0.1:9443", caBundle: base64(`${BROKEN_CERTIFICATE}${rootCertificates[0]}`) },
    },
    "may ask for everything": { rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], kinds: ["*"] }] },
    "may be about a kind without a group": { rules: [{ ...rule, apiGroups: [""] }] },
    "may have no rules yet": { rules: undefined },
    "may offer further versions of the context": { interpreterContextVersions: ["v1beta1", "v1alpha1"] },
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
    "needs a name with a domain": {
      fields: { name: "workloads" },
      want: [`${at}.name: Invalid value: "workloads": should be a domain with at least two segments separated by dots`],
    },
    "needs a way to the server": {
      fields: { clientConfig: {} },
      want: [`${at}.clientConfig: Required value: exactly one of url or service is required`],
    },
    "has one way to the server only": {
      fields: { clientConfig: { url: "https://a.example.com", service } },
      want: [`${at}.clientConfig: Required value: exactly one of url or service is required`],
    },
    "speaks HTTPS": {
      fields: { clientConfig: { url: "http://a.example.com" } },
      want: [`${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${URL_FORM}`],
    },
    "needs a host": {
      fields: { clientConfig: { url: "https:interpret" } },
      want: [`${at}.clientConfig.url: Invalid value: "": host must be specified${URL_FORM}`],
    },
    "says nothing else in the URL": {
      fields: { clientConfig: { url: "https://me:secret@a.example.com/x?y=1#z" } },
      want: [
        `${at}.clientConfig.url: Invalid value: "me:secret": user information is not permitted in the URL`,
        `${at}.clientConfig.url: Invalid value: "z": fragments are not permitted in the URL`,
        `${at}.clientConfig.url: Invalid value: "y=1": query parameters are not permitted in the URL`,
      ],
    },
    "names a Service that can be": {
      fields: { clientConfig: { service: { namespace: "", name: "", port: 0, path: "interpret" } } },
      want: [
        `${at}.clientConfig.service.name: Required value`,
        `${at}.clientConfig.service.namespace: Required value`,
        `${at}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
        `${at}.clientConfig.service.path: Invalid value: "interpret": must start with a '/'`,
      ],
    },
    "brings certificates, if anything": {
      fields: { clientConfig: { url: "https://a.example.com", caBundle: base64(BROKEN_CERTIFICATE) } },
      want: [
        `${at}.clientConfig.caBundle: Invalid value: unable to load root certificates: unable to parse bytes as PEM block`,
      ],
    },
    "waits a second at least": {
      fields: { timeoutSeconds: 0 },
      want: [`${at}.timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds`],
    },
    "waits half a minute at most": {
      fields: { timeoutSeconds: 31 },
      want: [`${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`],
    },
    "names an operation that there is": {
      fields: { rules: [{ ...rule, operations: ["Prune"] }] },
      want: [`${at}.rules[0].operations[0]: Unsupported value: "Prune": supported values: ${SUPPORTED}`],
    },
    "has no other operation beside all of them": {
      fields: { rules: [{ ...rule, operations: ["*", "Retain"] }] },
      want: [
        `${at}.rules[0].operations: Invalid value: ["*","Retain"]: if '*' is present, must not specify other operations`,
      ],
    },
    "is about something": {
      fields: { rules: [{ operations: [], apiGroups: [], apiVersions: [], kinds: [] }] },
      want: ["operations", "apiGroups", "apiVersions", "kinds"].map(
        (field) => `${at}.rules[0].${field}: Required value`,
      ),
    },
    "leaves no version or kind empty": {
      fields: { rules: [{ ...rule, apiVersions: [""], kinds: ["Workload", ""] }] },
      want: [`${at}.rules[0].apiVersions[0]: Required value`, `${at}.rules[0].kinds[1]: Required value`],
    },
    "offers a version of the context": {
      fields: { interpreterContextVersions: [] },
      want: [`${at}.interpreterContextVersions: Required value: must specify one of v1alpha1`],
    },
    "offers a version that is known": {
      fields: { interpreterContextVersions: ["v2"] },
      want: [`${at}.interpreterContextVersions: Invalid value: ["v2"]: must include at least one of v1alpha1`],
    },
    "offers a version once": {
      fields: { interpreterContextVersions: ["v1alpha1", "v1alpha1"] },
      want: [`${at}.interpreterContextVersions[1]: Invalid value: "v1alpha1": duplicate version`],
    },
  };
  for (const [behaviour, { fields, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems({ ...webhook, ...fields })).toEqual(want);
    });
  }

  test("has one webhook of a name", () => {
    const found = problems(webhook, webhook);

    expect(found).toEqual(['webhooks[1].name: Duplicate value: "workloads.example.com"']);
  });
});
