import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import {
  AGREEMENT_ANNOTATION,
  agreementOf,
  agreementText,
  mergeRegistrations,
  NOTHING_AGREED,
  type Agreement,
  type Merged,
} from "./merge-registrations.ts";

type Labels = Record<string, string>;
interface Side {
  labels?: Labels;
  taints?: { key: string; value?: string; effect: string }[];
}

const makeCluster = ({ labels, taints }: Side): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "paris", labels },
  spec: { syncMode: "Push", taints: taints ? (taints as NonNullable<Cluster["spec"]["taints"]>) : undefined },
});
const makeManaged = ({ labels, taints }: Side): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "paris", labels },
  spec: { taints },
});
const merge = (cluster: Side, managed: Side, before: Agreement = NOTHING_AGREED): Merged =>
  mergeRegistrations(makeCluster(cluster), makeManaged(managed), before);

describe("labels", () => {
  const agreed = { labels: { env: "prod" }, taints: [] };
  const cases: Record<string, { cluster: Labels; managed: Labels; want: [cluster: unknown, managed: unknown] }> = {
    "with the same value on both registrations are left alone": {
      cluster: { env: "prod" },
      managed: { env: "prod" },
      want: [undefined, undefined],
    },
    "added to one registration are added to the other": {
      cluster: { env: "prod", tier: "gold" },
      managed: { env: "prod" },
      want: [undefined, { tier: "gold" }],
    },
    "removed from one registration are removed from the other": {
      cluster: { env: "prod" },
      managed: {},
      want: [{ env: null }, undefined],
    },
    "changed on one registration are changed on the other": {
      cluster: { env: "prod" },
      managed: { env: "test" },
      want: [{ env: "test" }, undefined],
    },
    "changed on both take the Cluster's value": {
      cluster: { env: "a" },
      managed: { env: "b" },
      want: [undefined, { env: "a" }],
    },
    "with a Karmada or OCM prefix are not shared": {
      cluster: { env: "prod", "cluster.karmada.io/x": "1" },
      managed: { env: "prod", "cluster.open-cluster-management.io/clusterset": "default" },
      want: [undefined, undefined],
    },
    "with other prefixes are shared": {
      cluster: { env: "prod", "example.com/x": "1" },
      managed: { env: "prod" },
      want: [undefined, { "example.com/x": "1" }],
    },
  };
  for (const [behaviour, { cluster, managed, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const merged = merge({ labels: cluster }, { labels: managed }, agreed);

      expect([merged.cluster.labels, merged.managedCluster.labels]).toEqual(want);
    });
  }
});

describe("taints", () => {
  test("are translated to the other API's effects", () => {
    const merged = merge(
      { taints: [{ key: "a", effect: "NoSchedule" }] },
      { taints: [{ key: "b", value: "1", effect: "NoSelect" }] },
    );

    expect(merged.cluster.taints).toEqual([
      { key: "a", effect: "NoSchedule" },
      { key: "b", value: "1", effect: "NoExecute" },
    ]);
    expect(merged.managedCluster.taints).toEqual([
      { key: "b", value: "1", effect: "NoSelect" },
      { key: "a", effect: "NoSelectIfNew" },
    ]);
  });

  test("removed from one registration are removed from the other, which keeps its remaining taints unchanged", () => {
    const before = { labels: {}, taints: [{ key: "a", value: "", effect: "NoSchedule" }] };
    const merged = merge(
      {},
      {
        taints: [
          { key: "a", effect: "NoSelectIfNew" },
          { key: "dear", effect: "PreferNoSelect" },
        ],
      },
      before,
    );

    expect(merged.cluster.taints).toBeUndefined();
    expect(merged.managedCluster.taints).toEqual([{ key: "dear", effect: "PreferNoSelect" }]);
  });

  test("taints that report a member's health stay on their own registration", () => {
    const merged = merge(
      { taints: [{ key: "cluster.karmada.io/not-ready", effect: "NoSchedule" }] },
      { taints: [{ key: "cluster.open-cluster-management.io/unreachable", effect: "NoSelect" }] },
    );

    expect([merged.cluster, merged.managedCluster]).toEqual([{}, {}]);
  });
});

test("a second merge changes nothing, whatever the registrations were", () => {
  const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"));
  const taints = (...effects: string[]) =>
    fc.uniqueArray(fc.record({ key: fc.constantFrom("x", "y"), effect: fc.constantFrom(...effects) }), {
      selector: ({ key, effect }) => key + effect,
    });
  fc.assert(
    fc.property(
      labels,
      labels,
      labels,
      taints("NoSchedule", "NoExecute"),
      taints("NoSelect", "NoSelectIfNew", "PreferNoSelect"),
      taints("NoSchedule", "NoExecute"),
      (mine, theirs, old, karmada, managed, agreed) => {
        const apply = (before: Labels, patch: Readonly<Record<string, string | null>> = {}): Labels =>
          Object.fromEntries(
            Object.entries({ ...before, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
          );
        const first = merge(
          { labels: mine, taints: karmada },
          { labels: theirs, taints: managed },
          { labels: old, taints: agreed.map((taint) => ({ ...taint, value: "" })) },
        );
        const after = [
          { labels: apply(mine, first.cluster.labels), taints: [...(first.cluster.taints ?? karmada)] },
          { labels: apply(theirs, first.managedCluster.labels), taints: [...(first.managedCluster.taints ?? managed)] },
        ] as const;

        const second = merge(after[0] as Side, after[1] as Side, first.agreement);

        expect([second.cluster, second.managedCluster, second.agreement]).toEqual([{}, {}, first.agreement]);
      },
    ),
  );
});

test("the agreement survives a round trip through its annotation, and an edited annotation is read as far as possible", () => {
  const agreement: Agreement = { labels: { env: "prod" }, taints: [{ key: "a", value: "", effect: "NoSchedule" }] };
  const noted = (text: string): ManagedCluster => ({
    ...makeManaged({}),
    metadata: { name: "paris", annotations: { [AGREEMENT_ANNOTATION]: text } },
  });

  expect(agreementOf(noted(agreementText(agreement)))).toEqual(agreement);
  expect(agreementOf(noted("{"))).toEqual(NOTHING_AGREED);
  expect(agreementOf(noted('{"labels":{"a":1,"b":"2"},"taints":[3,{"key":"x"}]}'))).toEqual({
    labels: { b: "2" },
    taints: [],
  });
  expect(agreementOf(makeManaged({}))).toBeUndefined();
});
