import { expect, test } from "vitest";
import { inApplyOrder, mayPrecedePolicies } from "./apply-order.ts";

const make = (apiVersion: string, kind: string, name = "x") => ({ apiVersion, kind, metadata: { name } });

test("what others need comes first, then overrides, quotas and strategies, policies, and everything else in its order", () => {
  const given = [
    make("apps/v1", "Deployment", "b"),
    make("policy.karmada.io/v1alpha1", "ClusterPropagationPolicy"),
    make("policy.karmada.io/v1alpha1", "PropagationPolicy"),
    make("policy.karmada.io/v1alpha1", "OverridePolicy", "second"),
    make("policy.karmada.io/v1alpha1", "OverridePolicy", "first"),
    make("policy.karmada.io/v1alpha1", "ClusterOverridePolicy"),
    make("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration"),
    make("config.karmada.io/v1alpha1", "ResourceInterpreterCustomization"),
    make("scheduling.k8s.io/v1", "PriorityClass"),
    make("flotilla.dev/v1alpha1", "FleetDisruptionBudget"),
    make("flotilla.dev/v1alpha1", "RolloutStrategy"),
    make("policy.karmada.io/v1alpha1", "FederatedResourceQuota"),
    make("apps/v1", "Deployment", "a"),
    make("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    make("v1", "Namespace"),
  ];

  const ordered = inApplyOrder(given).map(({ kind, metadata }) => `${kind}/${metadata.name}`);

  expect(ordered).toEqual([
    "Namespace/x",
    "CustomResourceDefinition/x",
    "PriorityClass/x",
    "ResourceInterpreterCustomization/x",
    "ResourceInterpreterWebhookConfiguration/x",
    "ClusterOverridePolicy/x",
    "OverridePolicy/second",
    "OverridePolicy/first",
    "FederatedResourceQuota/x",
    "RolloutStrategy/x",
    "FleetDisruptionBudget/x",
    "PropagationPolicy/x",
    "ClusterPropagationPolicy/x",
    "Deployment/b",
    "Deployment/a",
  ]);
});

test("kinds of other groups with the same name keep their place", () => {
  const given = [make("apps/v1", "Deployment"), make("example.com/v1", "Namespace"), make("v1", "Namespace")];

  expect(inApplyOrder(given).map(({ apiVersion }) => apiVersion)).toEqual(["v1", "apps/v1", "example.com/v1"]);
});

test("templates that no policy has claimed come after the overrides and before the policies", () => {
  const standing = make("apps/v1", "Deployment", "standing");
  const given = [
    make("apps/v1", "Deployment", "new"),
    make("policy.karmada.io/v1alpha1", "PropagationPolicy"),
    standing,
    make("policy.karmada.io/v1alpha1", "OverridePolicy"),
  ];

  const ordered = inApplyOrder(given, new Set([standing])).map(({ kind, metadata }) => `${kind}/${metadata.name}`);

  expect(mayPrecedePolicies(given).map(({ metadata }) => (metadata as { name: string }).name)).toEqual([
    "new",
    "standing",
  ]);
  expect(ordered).toEqual(["OverridePolicy/x", "Deployment/standing", "PropagationPolicy/x", "Deployment/new"]);
});

test("nothing is looked up for files without a policy", () => {
  expect(mayPrecedePolicies([make("apps/v1", "Deployment"), make("v1", "Namespace")])).toEqual([]);
});
