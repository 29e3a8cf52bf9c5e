import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ClusterRole, ClusterRoleBinding } from "@flotilla/kubernetes";
import { planImpersonationRules, planImpersonationWorks } from "./plan-impersonation.ts";

type Rule = NonNullable<ClusterRole["rules"]>[number];
type Subject = NonNullable<ClusterRoleBinding["subjects"]>[number];
const role = (name: string, rule: Rule): ClusterRole => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules: [rule],
});
const binding = (name: string, subjects: Subject[]): ClusterRoleBinding => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
  subjects,
});
const PROXY: Rule = { apiGroups: ["cluster.karmada.io"], resources: ["clusters/proxy"], verbs: ["*"] };
const user = (name: string): Subject => ({ kind: "User", name });

describe("the hub may impersonate on a member", () => {
  const cases: Record<string, { rule: Rule; want: string[] }> = {
    "users who may use the proxy": { rule: PROXY, want: ["ann"] },
    "users who may do everything": { rule: { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }, want: ["ann"] },
    "users who may use the proxy of this member": {
      rule: { ...PROXY, resourceNames: ["oslo", "paris"] },
      want: ["ann"],
    },
    "users who may search all members": {
      rule: { apiGroups: ["search.karmada.io"], resources: ["proxying/proxy"], verbs: ["get"] },
      want: ["ann"],
    },
    "no user who may only use the proxy of other members": { rule: { ...PROXY, resourceNames: ["oslo"] }, want: [] },
    "no user who may only read Clusters": { rule: { ...PROXY, resources: ["clusters"] }, want: [] },
  };
  for (const [behaviour, { rule, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const rules = planImpersonationRules("paris", [role("r", rule)], [binding("r", [user("ann")])]);

      expect(rules.flatMap(({ resourceNames }) => resourceNames)).toEqual(want);
    });
  }

  test("users, groups and service accounts, each once and in order", () => {
    const bindings = [
      binding("r", [
        user("bob"),
        { kind: "Group", name: "ops" },
        { kind: "ServiceAccount", name: "robot", namespace: "shop" },
      ]),
      binding("r", [user("ann"), user("bob")]),
    ];

    expect(planImpersonationRules("paris", [role("r", PROXY)], bindings)).toEqual([
      { verbs: ["impersonate"], apiGroups: [""], resources: ["users"], resourceNames: ["ann", "bob"] },
      { verbs: ["impersonate"], apiGroups: [""], resources: ["serviceaccounts"], resourceNames: ["robot"] },
      { verbs: ["impersonate"], apiGroups: [""], resources: ["groups"], resourceNames: ["ops"] },
    ]);
  });
});

describe("the impersonation Works", () => {
  const cluster: Cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "paris", uid: "u1" },
    spec: { syncMode: "Push", impersonatorSecretRef: { namespace: "karmada-cluster", name: "paris-impersonator" } },
  };

  test("contain a role and its binding to the impersonator service account, owned by the Cluster", () => {
    const works = planImpersonationWorks(cluster, []);

    expect(works.map(({ metadata }) => metadata)).toMatchObject([
      {
        namespace: "karmada-es-paris",
        name: "karmada-impersonator-7cbb6bd5c9",
        ownerReferences: [{ kind: "Cluster", uid: "u1" }],
      },
      { namespace: "karmada-es-paris", name: "karmada-impersonator-84f8c8f8c6" },
    ]);
    expect(works[1]?.spec.workload?.manifests?.[0]).toMatchObject({
      kind: "ClusterRoleBinding",
      subjects: [{ kind: "ServiceAccount", namespace: "karmada-cluster", name: "karmada-impersonator" }],
    });
  });

  test("are absent for a member without such an account", () => {
    expect(planImpersonationWorks({ ...cluster, spec: { syncMode: "Push" } }, [])).toEqual([]);
  });
});
