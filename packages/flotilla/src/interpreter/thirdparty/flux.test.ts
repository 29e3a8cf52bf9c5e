import { expect, test } from "vitest";
import type { KindInterpreter } from "@flotilla/kubernetes";
import type { FluxObject } from "./flux.ts";
import { helmReleaseInterpreter } from "./helm.toolkit.fluxcd.io/helmrelease.ts";
import { kustomizationInterpreter } from "./kustomize.toolkit.fluxcd.io/kustomization.ts";
import { bucketInterpreter } from "./source.toolkit.fluxcd.io/bucket.ts";
import { helmChartInterpreter } from "./source.toolkit.fluxcd.io/helmchart.ts";
import { helmRepositoryInterpreter } from "./source.toolkit.fluxcd.io/helmrepository.ts";

const make = (rest: Partial<FluxObject>): FluxObject => ({
  apiVersion: "example.io/v1",
  kind: "Example",
  metadata: { name: "shop", namespace: "apps", generation: 2 },
  ...rest,
});
const ready = (reason: string) => ({ type: "Ready", status: "True", reason, message: "" });

const health: Record<string, { rules: KindInterpreter<FluxObject>; object: FluxObject; want: boolean }> = {
  "a HelmRelease is healthy when a controller with a history reports the action that succeeded": {
    rules: helmReleaseInterpreter,
    object: make({ status: { conditions: [ready("UpgradeSucceeded")], history: [{ version: 2 }] } }),
    want: true,
  },
  "a HelmRelease of a controller without a history is healthy for one reason only": {
    rules: helmReleaseInterpreter,
    object: make({ status: { conditions: [ready("InstallSucceeded")] } }),
    want: false,
  },
  "a chart that was packaged is healthy": {
    rules: helmChartInterpreter,
    object: make({ status: { conditions: [ready("ChartPackageSucceeded")] } }),
    want: true,
  },
  "a Helm repository of an OCI registry is healthy without a status": {
    rules: helmRepositoryInterpreter,
    object: make({ spec: { type: "oci" } }),
    want: true,
  },
  "a failing Helm repository is unhealthy regardless of type": {
    rules: helmRepositoryInterpreter,
    object: make({ spec: { type: "oci" }, status: { conditions: [{ ...ready("Failed"), status: "False" }] } }),
    want: false,
  },
};
for (const [behaviour, { rules, object, want }] of Object.entries(health)) {
  test(behaviour, () => {
    expect(rules.isHealthy?.(object)).toBe(want);
  });
}

test("failures are the members' current counts, however often they are aggregated", () => {
  const items = [
    { clusterName: "oslo", status: { failures: 2, installFailures: 1 } },
    { clusterName: "paris", status: { failures: 3, installFailures: 0 } },
  ];

  const once = helmReleaseInterpreter.aggregateStatus?.(make({}), items);

  expect(once?.status).toEqual({ failures: 5, upgradeFailures: 0, installFailures: 1, observedGeneration: 0 });
  expect(helmReleaseInterpreter.aggregateStatus?.(once ?? make({}), items)).toBe(once);
});

test("a revision that members temporarily do not report is kept, and removed with the last member", () => {
  const before = make({ status: { lastAppliedRevision: "main@sha1:1", observedGeneration: 1 } });

  const silent = kustomizationInterpreter.aggregateStatus?.(before, [{ clusterName: "oslo" }]);
  const gone = kustomizationInterpreter.aggregateStatus?.(before, []);

  expect(silent).toBe(before);
  expect(gone?.status).toEqual({ observedGeneration: 2 });
});

test("an artifact that no member has any longer is removed", () => {
  const before = make({ status: { artifact: { revision: "1" }, url: "http://example.org/1", observedGeneration: 1 } });

  const next = bucketInterpreter.aggregateStatus?.(before, [
    { clusterName: "oslo", status: { generation: 2, resourceTemplateGeneration: 1 } },
  ]);

  expect(next?.status).toEqual({ observedGeneration: 1 });
});

const dependencies: Record<string, { rules: KindInterpreter<FluxObject>; spec: FluxObject["spec"]; want: string[] }> = {
  "a Bucket depends on its certificates, its proxy and its token service": {
    rules: bucketInterpreter,
    spec: {
      certSecretRef: { name: "tls" },
      proxySecretRef: { name: "proxy" },
      sts: { secretRef: { name: "sts" }, certSecretRef: { name: "tls" } },
    },
    want: ["Secret/tls", "Secret/proxy", "Secret/sts"],
  },
  "a Kustomization depends on its substitution variables": {
    rules: kustomizationInterpreter,
    spec: {
      postBuild: {
        substituteFrom: [
          { kind: "ConfigMap", name: "vars" },
          { kind: "Secret", name: "keys" },
          { kind: "Service", name: "no" },
        ],
      },
    },
    want: ["ConfigMap/vars", "Secret/keys"],
  },
  "a HelmRelease whose kubeconfig needs no Secret depends on the ConfigMap": {
    rules: helmReleaseInterpreter,
    spec: { kubeConfig: { configMapRef: { name: "member" } }, serviceAccountName: "deployer" },
    want: ["ConfigMap/member", "ServiceAccount/deployer"],
  },
};
for (const [behaviour, { rules, spec, want }] of Object.entries(dependencies)) {
  test(behaviour, () => {
    const found = rules.dependencies?.(make({ spec })) ?? [];

    expect(found.map(({ kind, name }) => `${kind}/${name}`)).toEqual(want);
    expect(found.every(({ apiVersion, namespace }) => apiVersion === "v1" && namespace === "apps")).toBe(true);
  });
}

test("rejects a reference without a name and reports its path", () => {
  expect(() => helmReleaseInterpreter.dependencies?.(make({ spec: { valuesFrom: [{ kind: "Secret" }] } }))).toThrow(
    "finding the dependencies of Example shop: spec.valuesFrom has a reference without a name",
  );
  expect(() => helmReleaseInterpreter.dependencies?.(make({}))).toThrow("spec is not an object");
});
