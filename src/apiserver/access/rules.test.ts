import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../api/index.ts";
import type { AccessedResource } from "../request/authorize.ts";
import { allowsPath, allowsResource, describeRules, uncovered } from "./rules.ts";

describe("AZ-1: a rule about resources", () => {
  const rule: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const pods: AccessedResource = { group: "", resource: "pods", namespace: "a", name: "p" };
  const cases: Record<string, { rule: PolicyRule; verb?: string; about?: AccessedResource; want: boolean }> = {
    "allows what it names": { rule, want: true },
    "allows no other verb": { rule, verb: "list", want: false },
    "allows no other group": { rule, about: { ...pods, group: "apps" }, want: false },
    "allows no subresource": { rule, about: { ...pods, subresource: "log" }, want: false },
    "allows a subresource that it names": {
      rule: { ...rule, resources: ["pods/log"] },
      about: { ...pods, subresource: "log" },
      want: true,
    },
    "allows a subresource of everything": {
      rule: { ...rule, resources: ["*/scale"] },
      about: { ...pods, subresource: "scale" },
      want: true,
    },
    "does not take the subresource of everything for the thing": {
      rule: { ...rule, resources: ["*/scale"] },
      want: false,
    },
    "allows everything with stars, subresources too": {
      rule: { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      verb: "x",
      about: { group: "g", resource: "r", subresource: "s" },
      want: true,
    },
    "is about one object when it names it": { rule: { ...rule, resourceNames: ["p"] }, want: true },
    "is not about other objects": { rule: { ...rule, resourceNames: ["q"] }, want: false },
    "is not about collections when it names objects": {
      rule: { ...rule, resourceNames: ["p"] },
      about: { group: "", resource: "pods" },
      want: false,
    },
    "says nothing when it is about paths": { rule: { verbs: ["get"], nonResourceURLs: ["*"] }, want: false },
  };
  for (const [behaviour, { rule: given, verb = "get", about = pods, want }] of Object.entries(cases)) {
    test(behaviour, () => expect(allowsResource(given, verb, about)).toBe(want));
  }
});

describe("AZ-1: a rule about paths", () => {
  const cases: Record<string, { urls: string[]; path: string; want: boolean }> = {
    "names a path": { urls: ["/healthz"], path: "/healthz", want: true },
    "does not cover what is below it": { urls: ["/healthz"], path: "/healthz/etcd", want: false },
    "covers what is below with a star": { urls: ["/api/*"], path: "/api/v1", want: true },
    "does not cover the path without the slash": { urls: ["/api/*"], path: "/api", want: false },
    "is not slow with many stars": { urls: [`${"*".repeat(1_000_000)}x*`], path: "/metrics", want: false },
    "covers everything with a star alone": { urls: ["*"], path: "/metrics", want: true },
  };
  for (const [behaviour, { urls, path, want }] of Object.entries(cases)) {
    test(behaviour, () => expect(allowsPath({ verbs: ["get"], nonResourceURLs: urls }, "get", path)).toBe(want));
  }
});

describe("AZ-4: what somebody lacks", () => {
  const held: PolicyRule[] = [
    { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/scale"] },
    { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"] },
    { verbs: ["get"], nonResourceURLs: ["/logs/*"] },
  ];
  const cases: Record<string, { wanted: PolicyRule; want: string[] }> = {
    "nothing of what is held": { wanted: { verbs: ["list"], apiGroups: [""], resources: ["pods"] }, want: [] },
    "nothing of a subresource of everything": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["things/scale"] },
      want: [],
    },
    "verbs of one thing together": {
      wanted: { verbs: ["get", "delete", "watch"], apiGroups: [""], resources: ["pods"] },
      want: ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}'],
    },
    "all objects when only one is held": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["secrets"] },
      want: ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
    },
    "one object of two": {
      wanted: { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine", "yours"] },
      want: ['{APIGroups:[""], Resources:["secrets"], ResourceNames:["yours"], Verbs:["get"]}'],
    },
    "paths verb by verb, sorted": {
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
