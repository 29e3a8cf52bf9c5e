import { describe, expect, test } from "vitest";
import { isDeployedTo } from "./conditional-deployment.ts";
import { manifestWorkReplicaSetRules } from "../manifestworkreplicaset/manifestworkreplicaset-rules.ts";
import type { ManifestWorkReplicaSet } from "../manifestworkreplicaset/manifestworkreplicaset-kind.ts";
import { manifestWorkRules } from "./manifestwork-rules.ts";
import type { ManifestWorkSpec } from "../manifests/manifest-work-spec.ts";
import type { ManifestWork } from "./manifestwork-kind.ts";
import { admitted, makeManifest, warningsBy } from "../test-objects.ts";

function makeWork(
  spec: ManifestWorkSpec = { workload: { manifests: [makeManifest("a")] } },
  annotations?: Record<string, string>,
): ManifestWork {
  return {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "web", namespace: "paris", annotations },
    spec,
  };
}
const workOf = (...manifests: ReturnType<typeof makeManifest>[]): ManifestWork => makeWork({ workload: { manifests } });
const runsAs = (name: string): ManifestWorkSpec => ({
  workload: { manifests: [makeManifest("a")] },
  executor: { subject: { type: "ServiceAccount", serviceAccount: { namespace: "shop", name } } },
});
const admit = (...args: [work: ManifestWork, circumstances?: Parameters<typeof admitted<ManifestWork>>[2]]) =>
  admitted(manifestWorkRules, ...args);

describe("manifests", () => {
  const cases: Record<string, [work: ManifestWork, refusal: string]> = {
    "must not be empty": [workOf(), "manifests should not be empty"],
    "need names": [workOf(makeManifest("a"), { apiVersion: "v1", kind: "ConfigMap" }), "name must be set in manifest"],
    "may not use generateName": [
      workOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", generateName: "a-" } }),
      "generateName must not be set in manifest",
    ],
    "must be unique": [
      workOf(makeManifest("a"), makeManifest("b"), makeManifest("a")),
      "duplicate manifest for resource shop/a with resource type v1.ConfigMap",
    ],
    "may not exceed the size limit": [
      workOf(makeManifest("a", { data: { a: "x".repeat(512_000) } })),
      "the size of manifests is 512101 bytes which exceeds the 512000 limit",
    ],
    "are measured as Go encodes them": [
      workOf(makeManifest("a", { data: { a: "<".repeat(90_000) } })),
      "the size of manifests is 540101 bytes which exceeds the 512000 limit",
    ],
  };
  for (const [behaviour, [work, refusal]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(admit(work)).toBe(refusal);
    });
  }
});

describe("an executor", () => {
  const refusal = "user tester cannot manipulate the Manifestwork with executor shop/runner in namespace paris";

  test("needs the execute-as permission", () => {
    expect(
      admit(makeWork(runsAs("runner")), { rights: ["execute-as manifestworks system:serviceaccount:shop:runner"] }),
    ).toMatchObject({ spec: runsAs("runner") });
    expect(admit(makeWork(runsAs("runner")), { rights: [] })).toBe(refusal);
  });

  test("is checked again only when it changes", () => {
    expect(
      admit(makeWork(runsAs("runner"), { a: "b" }), { old: makeWork(runsAs("runner")), rights: [] }),
    ).toMatchObject({ metadata: { annotations: { a: "b" } } });
    expect(admit(makeWork(runsAs("runner")), { old: makeWork(runsAs("other")), rights: [] })).toBe(refusal);
  });

  test("an executor in a template needs the permission in all namespaces, because its works can be in any", () => {
    const set: ManifestWorkReplicaSet = {
      apiVersion: "work.open-cluster-management.io/v1alpha1",
      kind: "ManifestWorkReplicaSet",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        manifestWorkTemplate: runsAs("runner"),
        placementRefs: [{ name: "all" }],
        cascadeDeletionPolicy: "Background",
      },
    };

    expect(admitted(manifestWorkReplicaSetRules, set, { rights: [] })).toBe(
      "user tester cannot manipulate the ManifestWorkReplicaSet with executor shop/runner in all namespaces",
    );
    expect(admitted(manifestWorkReplicaSetRules, set)).toBe(set);
  });
});

describe("a conditional work", () => {
  const conditional = (labels: string): Record<string, string> => ({
    "ocm.io/conditional-deployment": "true",
    "ocm.io/required-labels": labels,
  });

  test("applies to a cluster that has the required labels", () => {
    expect(isDeployedTo(conditional("monitoring=enabled"), { monitoring: "enabled" })).toBe(true);
    expect(isDeployedTo(conditional("monitoring=enabled"), { monitoring: "off" })).toBe(false);
    expect(isDeployedTo(conditional("monitoring=enabled,tier in (a,b)"), undefined)).toBe(false);
  });

  test("applies to every cluster when it is not conditional or names no labels", () => {
    expect(isDeployedTo({ "ocm.io/required-labels": "monitoring=enabled" }, {})).toBe(true);
    expect(isDeployedTo({ "ocm.io/conditional-deployment": "true" }, {})).toBe(true);
  });

  test("is rejected for an invalid selector, and otherwise causes a warning", () => {
    expect(admit(makeWork(undefined, conditional("a in (")))).toMatch(
      /^metadata\.annotations\[ocm\.io\/required-labels\]: Invalid value: "a in \(": unable to parse requirement/,
    );
    expect(warningsBy(manifestWorkRules, makeWork(undefined, conditional("a=b")))).toEqual([
      expect.stringContaining("the canonical form is a ManifestWorkReplicaSet with a Placement"),
    ]);
  });
});

describe("warns", () => {
  const config = {
    resourceIdentifier: { group: "apps.kruise.io", resource: "clonesets", namespace: "shop", name: "web" },
  };

  test("warns that stock agents do not know OpenKruise's status", () => {
    const work = makeWork({ manifestConfigs: [config, { ...config, feedbackRules: [{ type: "WellKnownStatus" }] }] });

    expect(warningsBy(manifestWorkRules, work)).toEqual([
      expect.stringMatching(
        /^spec\.manifestConfigs\[1\]\.feedbackRules: WellKnownStatus of clonesets\.apps\.kruise\.io/,
      ),
    ]);
  });

  test("warns of condition rules that do not compile", () => {
    const work = makeWork({
      manifestConfigs: [
        {
          ...config,
          conditionRules: [
            {
              condition: "Ready",
              type: "CEL",
              celExpressions: ["hasConditions(object.status)", "object ="],
              messageExpression: 'result ? "yes" : none',
            },
          ],
        },
      ],
    });

    expect(warningsBy(manifestWorkRules, work)).toEqual([
      expect.stringMatching(
        /^spec\.manifestConfigs\[0\]\.conditionRules\[0\]\.celExpressions\[1\]: compilation failed: ERROR: <input>:1:8: Syntax error/,
      ),
      expect.stringMatching(
        /^spec\.manifestConfigs\[0\]\.conditionRules\[0\]\.messageExpression: .*undeclared reference to 'none'/,
      ),
    ]);
  });
});

describe("the name of a work", () => {
  const named = (length: number): ManifestWork => ({
    ...makeWork(),
    metadata: { name: "x".repeat(length), namespace: "paris" },
  });

  test("is rejected when it is too long for an AppliedManifestWork", () => {
    expect(admit(named(188))).toMatchObject({ kind: "ManifestWork" });
    expect(admit(named(189))).toBe("metadata.name: Too long: may not be more than 188 bytes");
  });
});

test("warns of a Placement that is listed twice", () => {
  const set: ManifestWorkReplicaSet = {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      manifestWorkTemplate: { workload: { manifests: [makeManifest("a")] } },
      placementRefs: [{ name: "all" }, { name: "some" }, { name: "all" }],
      cascadeDeletionPolicy: "Background",
    },
  };

  expect(warningsBy(manifestWorkReplicaSetRules, set)).toEqual([
    "spec.placementRefs[2]: the Placement all is already listed; the duplicate is ignored",
  ]);
});
