import { describe, expect, test } from "vitest";
import {
  bindingName,
  bindingReferenceKey,
  clusterNameOf,
  executionNamespace,
  impersonationSecretName,
  isReservedNamespace,
  namespacedKey,
  policyName,
  serviceAccountName,
  workName,
} from "./karmada-names.ts";

describe("the name of a Work", () => {
  const cases: [kind: string, name: string, namespace: string, want: string][] = [
    ["Deployment", "nginx", "default", "nginx-687f7fb96f"],
    ["Service", "nginx", "default", "nginx-64b7849b5"],
    ["ClusterRole", "system:Foo", "", "system.foo-5f7d88f69"],
    ["CloneSet", "sample", "test-cloneset", "sample-d4c8478bd"],
    ["Namespace", "demo", "", "demo-6654f4c4f6"],
  ];
  test.each(cases)("distinguishes the %s %s in namespace %s by a hash", (kind, name, namespace, want) => {
    expect(workName(kind, name, namespace)).toBe(want);
  });
});

test("a binding is named after kind and name, without colons and in lower case", () => {
  expect(bindingName("ClusterRole", "system::tom")).toBe("system..tom-clusterrole");
});

test("a promoted policy is named by a hash of namespace and kind", () => {
  expect(policyName("ns-foo", "foo", "rand")).toBe("foo-b4978784");
  expect(policyName("ns-foo", "system:foo", "rand")).toBe("system.foo-b4978784");
  expect(policyName("default", "nginx", "apps/v1, Kind=Deployment")).toBe("nginx-6d7f8d5f5b");
});

test("a dependency is labelled with a hash of the dependent binding", () => {
  expect(bindingReferenceKey("default", "nginx-deployment")).toBe("5bdc5c4dcf");
});

test("the execution namespace and its cluster can be derived from each other", () => {
  expect(executionNamespace("oslo")).toBe("karmada-es-oslo");
  expect(clusterNameOf("karmada-es-oslo")).toBe("oslo");
  expect(clusterNameOf("karmada-esoslo")).toBeUndefined();
  expect(clusterNameOf("default")).toBeUndefined();
});

test("names of a cluster's other objects contain the cluster's name", () => {
  expect(serviceAccountName("oslo")).toBe("karmada-oslo");
  expect(impersonationSecretName("oslo")).toBe("oslo-impersonator");
});

test("the hub's own namespaces are reserved, those of Kubernetes are not", () => {
  const namespaces = ["karmada-system", "karmada-cluster", "karmada-es-x", "karmada", "kube-system", "default"];

  expect(namespaces.filter(isReservedNamespace)).toEqual(["karmada-system", "karmada-cluster", "karmada-es-x"]);
});

test("a key has a namespace only for namespaced objects", () => {
  expect(namespacedKey("shop", "web")).toBe("shop/web");
  expect(namespacedKey("", "web")).toBe("web");
});
