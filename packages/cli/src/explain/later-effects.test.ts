import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Applied } from "./apply-input.ts";
import { laterEffects } from "./later-effects.ts";

const applied = (outcome: Applied["outcome"], object: object): Applied => ({
  object: { metadata: { namespace: "shop", name: "web" }, ...object } as unknown as KubernetesObject,
  kind: {} as Applied["kind"],
  outcome,
});
const scaler = (kind: string): object => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind,
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
});

test("a changed autoscaler of the hub may change members, and the plan says what it does not cover", () => {
  expect(
    laterEffects([applied("created", scaler("FederatedHPA")), applied("changed", scaler("CronFederatedHPA"))]),
  ).toEqual({
    unplanned: ["FederatedHPA shop/web", "CronFederatedHPA shop/web"],
    notes: [
      "FederatedHPA shop/web: the plan does not cover how it scales Deployment web",
      "CronFederatedHPA shop/web: the plan does not cover when it scales Deployment web",
    ],
  });
});

test("sets that Placements select from, rebalancers and budgets of releases are not planned", () => {
  const kinds = [
    ["cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding"],
    ["cluster.open-cluster-management.io/v1beta1", "Placement"],
    ["apps.karmada.io/v1alpha1", "WorkloadRebalancer"],
    ["flotilla.dev/v1alpha1", "FleetDisruptionBudget"],
  ] as const;

  const { unplanned } = laterEffects(kinds.map(([apiVersion, kind]) => applied("created", { apiVersion, kind })));

  expect(unplanned).toEqual(kinds.map(([, kind]) => `${kind} shop/web`));
});

test("a changed Retain rule runs on the copies that members have, and a rule of another operation does not", () => {
  const customization = (customizations: object): object => ({
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    spec: { customizations },
  });
  const retention = { luaScript: "function Retain(desired, observed) return desired end" };

  expect(laterEffects([applied("created", customization({ retention }))]).notes).toEqual([
    "ResourceInterpreterCustomization shop/web: the plan does not cover the values that its Retain rule changes in copies that members have",
  ]);
  expect(laterEffects([applied("created", customization({ healthInterpretation: retention }))]).notes).toEqual([]);
});

test("what does not change, and other kinds of the same name, have no effect", () => {
  const other = { apiVersion: "example.com/v1", kind: "Placement" };

  expect(laterEffects([applied("unchanged", scaler("FederatedHPA")), applied("created", other)])).toEqual({
    unplanned: [],
    notes: [],
  });
});
