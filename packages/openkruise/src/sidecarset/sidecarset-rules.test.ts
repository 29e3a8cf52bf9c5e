import { expect, test } from "vitest";
import type { ClusterReader } from "@flotilla/apimachinery";
import {
  completedBy,
  emptyCluster,
  makeReview,
  problemsOf,
  warningsOf,
} from "../../../apimachinery/src/kind/test-review.ts";
import type { SidecarSet } from "./sidecarset-kind.ts";
import { sidecarSetRules } from "./sidecarset-rules.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

const admissions = sidecarSetRules(DEFAULT_GATES);
const base = { selector: { matchLabels: { app: "a" } }, containers: [{ name: "log", image: "log:1" }] };
const set = (spec: object = {}, version = "v1beta1"): SidecarSet => ({
  apiVersion: `apps.kruise.io/${version}`,
  kind: "SidecarSet",
  metadata: { name: "log" },
  spec: { ...base, ...spec },
});
const HASH = "kruise.io/sidecarset-hash";
const WITHOUT_IMAGE = "kruise.io/sidecarset-hash-without-image";

test("a new image changes the hash, but not the hash without images", () => {
  const before = completedBy(admissions, set()).metadata.annotations;

  const after = completedBy(admissions, set({ containers: [{ name: "log", image: "log:2" }] })).metadata.annotations;

  expect(after?.[HASH]).not.toBe(before?.[HASH]);
  expect(after?.[WITHOUT_IMAGE]).toBe(before?.[WITHOUT_IMAGE]);
});

test("both versions have the same hashes", () => {
  expect(completedBy(admissions, set({}, "v1alpha1")).metadata.annotations).toEqual(
    completedBy(admissions, set()).metadata.annotations,
  );
});

test("the hash includes CRD defaults", () => {
  const policy = { targetContainersMode: "sum", resourcesExpr: { limits: { cpu: "cpu*50%" } } };
  const completed = completedBy(
    admissions,
    set({ containers: [{ name: "log", image: "log:1", resourcesPolicy: policy }] }),
  );

  expect(completed.spec.containers?.[0]?.resourcesPolicy?.targetContainersNameRegex).toBe(".*");
  expect(completedBy(admissions, completed as SidecarSet).metadata.annotations).toEqual(completed.metadata.annotations);
});

test("the hub accepts a set that refers to objects only members have", () => {
  const spec = {
    injectionStrategy: { revision: { customVersion: "v1" } },
    patchPodMetadata: [{ annotations: { a: "b" } }],
  };

  expect(problemsOf(admissions, completedBy(admissions, set(spec)) as SidecarSet)).toEqual([]);
});

test("on the hub, a new set that injects a custom version gets that version, with a warning", () => {
  const sent = set({ injectionStrategy: { paused: true, revision: { customVersion: "v1", policy: "Always" } } });

  expect(completedBy(admissions, sent).spec).toMatchObject({
    customVersion: "v1",
    injectionStrategy: { paused: true },
  });
  expect(completedBy(admissions, sent).spec.injectionStrategy).not.toHaveProperty("revision");
  expect(warningsOf(admissions, sent)).toEqual([
    "spec.injectionStrategy.revision.customVersion: members reject a version that they do not have yet; the " +
      'set itself was given version "v1" (spec.customVersion), and its newest revision is injected',
  ]);
});

test("the version of a v1alpha1 set is a label", () => {
  const completed = completedBy(
    admissions,
    set({ injectionStrategy: { revision: { customVersion: "v1" } } }, "v1alpha1"),
  );

  expect(completed.metadata.labels).toEqual({ "apps.kruise.io/sidecarset-custom-version": "v1" });
  expect(completed.spec).not.toHaveProperty("customVersion");
});

test("a set that injects a version other than its own, or an update, is left unchanged", () => {
  const ofBefore = set({ injectionStrategy: { revision: { customVersion: "v1" } } });
  const another = set({ customVersion: "v2", injectionStrategy: { revision: { customVersion: "v1" } } });

  expect(warningsOf(admissions, ofBefore, set())).toEqual([]);
  expect(completedBy(admissions, another).spec.injectionStrategy).toMatchObject({ revision: { customVersion: "v1" } });
});

test("a member rejects a set whose containers conflict with another set", () => {
  const object = completedBy(admissions, set());
  const other: unknown = { ...object, metadata: { name: "other" } };
  const read: ClusterReader = { ...emptyCluster, list: () => [other as never] };

  const problems = admissions.flatMap(
    ({ validate }) => validate?.({ ...makeReview<SidecarSet>(object), cluster: "member1", read }) ?? [],
  );

  expect(problems).toEqual([
    {
      type: "Invalid",
      field: "spec.containers",
      message: 'Invalid value: "log": container log already exist in other',
    },
  ]);
});
