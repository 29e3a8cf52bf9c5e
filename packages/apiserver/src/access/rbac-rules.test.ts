import { describe, expect, test } from "vitest";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { AccessedResource } from "../request/authorize.ts";
import { allowsPath, allowsResource, describeRules, uncovered } from "./rbac-rules.ts";

describe("a resource rule", () => {
  const rule: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const pods: AccessedResource = { group: "", resource: "pods", namespace: "a", name: "p" };
  const cases: Record<string, { rule: PolicyRule; verb?: string; about?: AccessedResource; want: boolean }> = {
    "allows the verb and resource that it names": { rule, want: true },
    "allows no other verb": { rule, verb: "list", want: false },
    "allows no other API group": { rule, about: { ...pods, group: "apps" }, want: false },
    "allows no subresource of its resource": { rule, about: { ...pods, subresource: "log" }, want: false },
    "allows a subresource that it names": {
      rule: { ...rule, resources: ["pods/log"] },
      about: { ...pods, subresource: "log" },
      want: true,
    },
    "allows a subresource of all resources": {
      rule: { ...rule, resources: ["*/scale"] },
      about: { ...pods, subresource: "scale" },
      want: true,
    },
    "does not allow the resource itself through a wildcard subresource": {
      rule: { ...rule, resources: ["*/scale"] },
      want: false,
    },
    "allows everything with wildcards, including subresources": {
      rule: { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      verb: "x",
      about: { group: "g", resource: "r", subresource: "s" },
      want: true,
    },
    "with resourceNames allows the named object": { rule: { ...rule, resourceNames: ["p"] }, want: true },
    "with resourceNames allows no other object": { rule: { ...rule, resourceNames: ["q"] }, want: false },
    "with resourceNames allows no collection": {
      rule: { ...rule, resourceNames: ["p"] },
      about: { group: "", resource: "pods" },
      want: false,
    },
    "with nonResourceURLs allows no resource": { rule: { verbs: ["get"], nonResourceURLs: ["*"] }, want: false },
  };
  for (const [behaviour, { rule: given, verb = "get", about = pods, want }] of Object.entries(cases)) {
    test(behaviour, () => expect(allowsResource(given, verb, about)).toBe(want));
  }
});

describe("a nonresource rule", () => {
  const cases: Record<string, { urls: string[]; path: string; want: boolean }> = {
    "allows the path that it names": { urls: ["/healthz"], path: "/healthz", want: true },
    "does not allow paths below it": { urls: ["/healthz"], path: "/healthz/etcd", want: false },
    "allows paths below it with a wildcard": { urls: ["/api/*"], path: "/api/v1", want: true },
    "does not allow the path without the trailing slash": { urls: ["/api/*"], path: "/api", want: false },
    "stays fast with many wildcards": { urls: [`${"*".repeat(1_000_000)}x*`], path: "/metrics", want: false },
    "allows every path with a single wildcard": { urls: ["*"], path: "/metrics", want: true },
  };
  for (const [behaviour, { urls, path, want }] of Object.entries(cases)) {
    test(behaviour, () => expect(allowsPath({ verbs: ["get"], nonResourceURLs: urls }, "get", path)).toBe(want));
  }
});

describe("the uncovered rules are", () => {
  const held: PolicyRule[] = [
    { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/scale"] },
    { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"] },
    { verbs: ["get"], nonResourceURLs: ["/logs/*"] },
  ];
  const cases: Record<string, { wanted: PolicyRule; want: string[] }> = {
    "nothing when the rules are held": { wanted: { verbs: ["list"], apiGroups: [""], resources: ["pods"] }, want: [] },
    "nothing when a subresource of all resources is held": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["things/scale"] },
      want: [],
    },
    "grouped by resource, with the missing verbs together": {
      wanted: { verbs: ["get", "delete", "watch"], apiGroups: [""], resources: ["pods"] },
      want: ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}'],
    },
    "all objects when only one name is held": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["secrets"] },
      want: ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
    },
    "the one name of two that is not held": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine", "yours"] },
      want: ['{APIGroups:[""], Resources:["secrets"], ResourceNames:["yours"], Verbs:["get"]}'],
    },
    "sorted paths, one entry per verb": {
      wanted: { verbs: ["get", "post"], nonResourceURLs: ["/logs/a", "/x"] },
      want: [
        '{NonResourceURLs:["/logs/a"], Verbs:["post"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["post"]}',
      ],
    },
  };
  for (const [behaviour, { wanted, want }] of Object.entries(cases)) {
    test(behaviour, () => expect(describeRules(uncovered(held, [wanted]))).toEqual(want));
  }
});
