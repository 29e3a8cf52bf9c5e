import { expect, test } from "vitest";
import { deepFreeze, type JsonObject } from "@flotilla/base";
import type { Review } from "@flotilla/apimachinery";
import { CloneSet } from "./cloneset-kind.ts";
import { cloneSetRules } from "./cloneset-rules.ts";
import { fromStorage, toStorage } from "./cloneset-versions.ts";
import { emptyCluster, SOME_KIND } from "../../../apimachinery/src/kind/test-review.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

const base = {
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i:1" }] } },
};
const cloneSet = (version: string, spec: object, metadata: object = {}): CloneSet => ({
  apiVersion: `apps.kruise.io/${version}`,
  kind: "CloneSet",
  metadata: { name: "a", namespace: "shop", ...metadata },
  spec: { ...base, ...spec },
});

function review(object: CloneSet, warnings: string[] = [], oldObject?: CloneSet): Review<CloneSet> {
  return {
    operation: oldObject ? "UPDATE" : "CREATE",
    cluster: "hub",
    kind: SOME_KIND,
    version: "v1beta1",
    user: { name: "u", groups: [] },
    object: deepFreeze(object),
    oldObject: oldObject ? deepFreeze(oldObject) : undefined,
    dryRun: false,
    newUid: () => "",
    nowMs: () => 0,
    allows: () => true,
    decide: () => ({ allowed: true, reason: "" }),
    warn: (message) => void warnings.push(message),
    read: emptyCluster,
  };
}
const admission = cloneSetRules(DEFAULT_GATES)[0];
const completed = (object: CloneSet, warnings?: string[]): CloneSet =>
  admission?.mutate?.(review(object, warnings)) as CloneSet;
const problems = (object: CloneSet, old?: CloneSet): string[] =>
  (admission?.validate?.(review(object, [], old)) ?? []).map(({ field, message }) => `${field}: ${message}`);

const conversions: Record<string, { alpha: JsonObject; beta: JsonObject }> = {
  "moves partition and similar fields into rollingUpdate": {
    alpha: {
      scaleStrategy: {},
      updateStrategy: { type: "InPlaceIfPossible", partition: "30%", maxUnavailable: 1, paused: true },
    },
    beta: {
      scaleStrategy: { enablePVCReuse: true },
      updateStrategy: {
        type: "RollingUpdate",
        rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", partition: "30%", maxUnavailable: 1, paused: true },
      },
    },
  },
  "inverts PVC reuse, since the defaults differ": {
    alpha: { scaleStrategy: { disablePVCReuse: true, podsToDelete: ["x"] } },
    beta: { scaleStrategy: { podsToDelete: ["x"] } },
  },
  "interprets an absent scale strategy by the default of each version": {
    alpha: { scaleStrategy: { disablePVCReuse: true } },
    beta: {},
  },
  "drops the rolling update under OnDelete": {
    alpha: { scaleStrategy: {}, updateStrategy: { type: "OnDelete" } },
    beta: { scaleStrategy: { enablePVCReuse: true }, updateStrategy: { type: "OnDelete" } },
  },
};
for (const [behaviour, { alpha, beta }] of Object.entries(conversions)) {
  test(`conversion ${behaviour}`, () => {
    const old = deepFreeze({
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "CloneSet",
      metadata: { name: "a" },
      spec: alpha,
    }) as JsonObject;
    const stored = deepFreeze({
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "CloneSet",
      metadata: { name: "a" },
      spec: beta,
    }) as JsonObject;

    expect(toStorage(old)).toEqual(stored);
    expect(fromStorage(stored)).toEqual(old);
  });
}

test("conversion keeps image pre-download settings in annotations for v1alpha1 and in fields for v1beta1", () => {
  const annotations = {
    "apps.kruise.io/image-predownload-parallelism": "3",
    "apps.kruise.io/image-predownload-timeout-seconds": "60",
  };
  const old: JsonObject = {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name: "a", annotations },
    spec: { scaleStrategy: {}, updateStrategy: { type: "InPlaceOnly" } },
  };

  const stored = toStorage(old);

  expect(stored).toMatchObject({
    spec: {
      updateStrategy: {
        rollingUpdate: {
          inPlaceUpdateStrategy: { imagePreDownloadParallelism: 3, imagePreDownloadTimeoutSeconds: 60 },
        },
      },
    },
  });
  expect(fromStorage(stored)).toEqual(old);
});

test("v1beta1 defaults are in rollingUpdate", () => {
  expect(completed(cloneSet("v1beta1", {})).spec).toMatchObject({
    replicas: 1,
    revisionHistoryLimit: 10,
    updateStrategy: {
      type: "RollingUpdate",
      rollingUpdate: { podUpdatePolicy: "ReCreate", partition: 0, maxUnavailable: "20%", maxSurge: 0 },
    },
  });
});

test("v1alpha1 defaults are in updateStrategy", () => {
  expect(
    completed(cloneSet("v1alpha1", { updateStrategy: { type: "InPlaceIfPossible" } })).spec.updateStrategy,
  ).toEqual({
    type: "InPlaceIfPossible",
    partition: 0,
    maxUnavailable: "20%",
    maxSurge: 0,
    inPlaceUpdateStrategy: {},
  });
});

test("the pull policy of template containers defaults to Always for any tag", () => {
  expect(completed(cloneSet("v1beta1", {})).spec.template.spec?.containers[0]).toMatchObject({
    image: "i:1",
    imagePullPolicy: "Always",
    terminationMessagePolicy: "File",
  });
});

test("unknown pod template fields are dropped with a warning", () => {
  const warnings: string[] = [];
  const template = { ...base.template, spec: { containers: [{ name: "c", image: "i:1", imege: "i:2" }] } };

  const { spec } = completed(cloneSet("v1beta1", { template }), warnings);

  expect(spec.template.spec?.containers[0]).not.toHaveProperty("imege");
  expect(warnings).toEqual(['unknown field "spec.template.spec.containers[0].imege"']);
});

for (const version of ["v1alpha1", "v1beta1"]) {
  test(`values of the wrong type in the open parts of ${version} are rejected with the decoder's error`, () => {
    expect(() => completed(cloneSet(version, { volumeClaimTemplates: "none" }))).toThrow(
      "cannot unmarshal string into Go struct field CloneSetSpec.spec.volumeClaimTemplates",
    );
    expect(() => completed(cloneSet(version, { template: { spec: { containers: [7] } } }))).toThrow(
      "cannot unmarshal number into Go struct field",
    );
  });

  test(`nulls in the open parts of ${version} are rejected or treated as zero values`, () => {
    const sent = completed(
      cloneSet(version, {
        template: {
          metadata: { labels: { app: "a" }, annotations: null },
          spec: { containers: [null], nodeSelector: { disk: null } },
        },
      }),
    );

    expect(sent.spec.template).toMatchObject({
      metadata: { labels: { app: "a" } },
      spec: { nodeSelector: { disk: "" } },
    });
    expect(problems(sent)).toContain("spec.template.spec.containers[0].name: Required value");
  });
}

test("finds a duplicate among a hundred thousand pods to delete", () => {
  const podsToDelete = Array.from({ length: 100_000 }, (_, index) => `web-${index}`);

  const [problem = ""] = problems(cloneSet("v1beta1", { scaleStrategy: { podsToDelete: [...podsToDelete, "web-7"] } }));

  expect(problem.endsWith("duplicated items [web-7]")).toBe(true);
});

test("a missing selector defaults to the template labels, with a warning", () => {
  const warnings: string[] = [];

  const { spec } = completed(cloneSet("v1beta1", { selector: undefined }), warnings);

  expect(spec.selector).toEqual({ matchLabels: { app: "a" } });
  expect(warnings).toEqual([
    "spec.selector is missing and was taken from spec.template.metadata.labels; write it as spec.selector.matchLabels",
  ]);
});

test("RollingUpdate in v1alpha1 becomes ReCreate on the hub, with a warning, and is rejected on members", () => {
  const warnings: string[] = [];
  const sent = cloneSet("v1alpha1", { updateStrategy: { type: "RollingUpdate" } });

  const onHub = completed(sent, warnings);
  const onMember = admission?.mutate?.({ ...review(sent), cluster: "member1" }) as CloneSet;

  expect(onHub.spec.updateStrategy).toMatchObject({ type: "ReCreate" });
  expect(problems(onHub)).toEqual([]);
  expect(warnings).toEqual([
    'spec.updateStrategy.type: "RollingUpdate" was taken for "ReCreate"; in apps.kruise.io/v1alpha1 write ReCreate, InPlaceIfPossible or InPlaceOnly',
  ]);
  expect(problems(onMember)).toEqual([
    "spec.updateStrategy.type: Invalid value: \"RollingUpdate\": must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'",
  ]);
});

const refusals: Record<string, [version: string, spec: object, want: string[]]> = {
  "the OnDelete update type in v1alpha1": [
    "v1alpha1",
    { updateStrategy: { type: "OnDelete" } },
    ["spec.updateStrategy.type: Invalid value: \"OnDelete\": must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'"],
  ],
  "an invalid partition": [
    "v1alpha1",
    { updateStrategy: { partition: "abc" } },
    [
      'spec.updateStrategy.partition: Invalid value: "abc": failed GetScaledValueFromIntOrPercent for partition: invalid type: string is not a percentage',
    ],
  ],
  "an update with maxUnavailable and maxSurge both 0": [
    "v1beta1",
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    [
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: maxUnavailable and maxSurge should not both be less than 1",
    ],
  ],
  "a maxSurge with InPlaceOnly": [
    "v1beta1",
    { updateStrategy: { rollingUpdate: { podUpdatePolicy: "InPlaceOnly", maxSurge: 1 } } },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "1": can not use maxSurge with strategy type InPlaceOnly',
    ],
  ],
  "a duplicate pod to delete": [
    "v1beta1",
    { scaleStrategy: { podsToDelete: ["x", "x"] } },
    ['spec.scaleStrategy.podsToDelete: Invalid value: ["x","x"]: duplicated items [x]'],
  ],
};
for (const [behaviour, [version, spec, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(problems(completed(cloneSet(version, spec)))).toEqual(want);
  });
}

test("accepts a fraction of a percent", () => {
  expect(problems(completed(cloneSet("v1alpha1", { updateStrategy: { partition: "33.3%" } })))).toEqual([]);
});

test("rejects a change of the selector", () => {
  const changed = cloneSet("v1beta1", {
    selector: { matchLabels: { tier: "b" } },
    template: { ...base.template, metadata: { labels: { app: "a", tier: "b" } } },
  });

  expect(problems(completed(changed), completed(cloneSet("v1beta1", {})))).toEqual([
    expect.stringMatching(/^spec: Forbidden: updates to cloneset spec for fields other than/),
  ]);
});

test("a CloneSet is served in both versions and stored in v1beta1", () => {
  expect([CloneSet.storageVersion, ...Object.keys(CloneSet.versions)]).toEqual(["v1beta1", "v1beta1", "v1alpha1"]);
});

test("a patch with v1alpha1 field names keeps its meaning in v1beta1, with a warning", () => {
  const warnings: string[] = [];

  const { spec } = completed(
    cloneSet("v1beta1", {
      updateStrategy: { type: "InPlaceIfPossible", partition: 7, rollingUpdate: { partition: 0, maxUnavailable: 1 } },
    }),
    warnings,
  );

  expect(spec.updateStrategy).toMatchObject({
    type: "RollingUpdate",
    rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", partition: 7, maxUnavailable: 1 },
  });
  expect(spec.updateStrategy).not.toHaveProperty("partition");
  expect(warnings).toHaveLength(2);
});
