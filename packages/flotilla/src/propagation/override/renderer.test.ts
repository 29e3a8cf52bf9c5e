import { expect, test } from "vitest";
import type { Cluster, ClusterOverridePolicy, OverridePolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { createRenderer } from "./renderer.ts";

const replacing = (path: string, value: string): OverridePolicy["spec"] => ({
  overrideRules: [{ overriders: { plaintext: [{ path, operator: "replace", value }] } }],
});
const local = (name: string, spec: OverridePolicy["spec"]): OverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "OverridePolicy",
  metadata: { namespace: "shop", name },
  spec,
});
const everywhere = (name: string, spec: OverridePolicy["spec"]): ClusterOverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterOverridePolicy",
  metadata: { name },
  spec,
});

function failureWith(overridePolicies: OverridePolicy[], clusterOverridePolicies: ClusterOverridePolicy[]): string {
  const oslo = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "oslo" },
    spec: {},
  } as unknown as Cluster;
  const lister = (items: KubernetesObject[]) => ({ list: () => items, get: () => items[0] }) as never;
  const render = createRenderer({
    hub: "hub",
    clusters: lister([oslo]),
    overridePolicies: lister(overridePolicies),
    clusterOverridePolicies: lister(clusterOverridePolicies),
  });
  try {
    render(makeDeployment("shop/web").build(), "oslo");
    return "";
  } catch (error) {
    return messageOf(error);
  }
}

const rename = replacing("/metadata/name", "other");
const harmless = replacing("/spec/replicas", "3");

test.each([
  ["of the namespace", failureWith([local("good", harmless), local("bad", rename)], [])],
  ["of the cluster", failureWith([local("good", harmless)], [everywhere("fine", harmless), everywhere("bad", rename)])],
])("names a policy %s that would change the identity of a copy", (_where, message) => {
  expect(message).toBe(
    "applying override policy bad: an override may not change apiVersion, kind, name or namespace of the object",
  );
});
