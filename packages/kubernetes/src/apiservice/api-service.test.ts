import { expect, test } from "vitest";
import type { APIService } from "./api-service-kind.ts";
import { validateApiService } from "./api-service.ts";
import { localApiService } from "./local-api-services.ts";

const remote = (spec: Partial<NonNullable<APIService["spec"]>>, name = "v1.example.com"): APIService => ({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name },
  spec: { group: "example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100, ...spec },
});
const service = { namespace: "default", name: "api", port: 443 };

const cases: Record<string, { object: APIService; want: string[] }> = {
  "accepts a remote APIService": { object: remote({ service, caBundle: "YQ==" }), want: [] },
  "accepts a local APIService": { object: remote({}), want: [] },
  "rejects a name that is not version.group": {
    object: remote({}, "v2.example.com"),
    want: ['metadata.name: must be `spec.version+"."+spec.group`: "v1.example.com"'],
  },
  "rejects an empty group in another version than v1": {
    object: remote({ group: "", version: "v2" }, "v2."),
    want: ["spec.group: only v1 may have an empty group and it better be legacy kube"],
  },
  "rejects priorities out of range": {
    object: remote({ groupPriorityMinimum: 20_001, versionPriority: 0 }),
    want: [
      "spec.groupPriorityMinimum: must be positive and less than 20000",
      "spec.versionPriority: must be positive and less than 1000",
    ],
  },
  "rejects a caBundle and skipped verification of a local APIService": {
    object: remote({ caBundle: "YQ==", insecureSkipTLSVerify: true }),
    want: [
      "spec.caBundle: local APIServices may not have a caBundle",
      "spec.insecureSkipTLSVerify: local APIServices may not have insecureSkipTLSVerify",
    ],
  },
  "rejects a Service without name, namespace and valid port": {
    object: remote({ service: { port: 0 } }),
    want: [
      "spec.service.namespace: ",
      "spec.service.name: ",
      "spec.service.port: port is not valid: must be between 1 and 65535, inclusive",
    ],
  },
  "rejects a caBundle that is not used": {
    object: remote({ service, caBundle: "YQ==", insecureSkipTLSVerify: true }),
    want: ["spec.insecureSkipTLSVerify: may not be true if caBundle is present"],
  },
};
for (const [name, { object, want }] of Object.entries(cases))
  test(name, () => {
    const texts = validateApiService(object).map(({ field, message }) => `${field}: ${message}`);

    expect(texts).toHaveLength(want.length);
    for (const [index, text] of want.entries()) {
      const [path = "", message = ""] = text.split(/: (.*)/s);
      expect(texts[index]).toContain(path);
      expect(texts[index]).toContain(message);
    }
  });

test("local APIServices have the priorities of kube-apiserver, those of definitions the same for all", () => {
  const summary = [
    localApiService("", "v1", true),
    localApiService("apps", "v1", true),
    localApiService("a.b", "v1", false),
  ].map(({ metadata, spec }) => [metadata.name, spec?.groupPriorityMinimum, spec?.versionPriority, metadata.labels]);

  expect(summary).toEqual([
    ["v1.", 18_000, 1, { "kube-aggregator.kubernetes.io/automanaged": "onstart" }],
    ["v1.apps", 17_800, 15, { "kube-aggregator.kubernetes.io/automanaged": "onstart" }],
    ["v1.a.b", 1000, 100, { "kube-aggregator.kubernetes.io/automanaged": "true" }],
  ]);
});
