import { expect, test } from "vitest";
import { agentManifests } from "./manifests.ts";

interface Rule {
  resources?: string[];
  verbs: string[];
}
const objects = agentManifests({
  cluster: "paris",
  namespace: "agents",
  image: "example.com/flotilla:1",
  kubeconfig: "KUBECONFIG",
  isBootstrap: true,
}) as unknown as { kind: string; metadata: { name: string }; rules?: Rule[] }[];

test("the manifests install a namespace, a service account, RBAC, credentials and a Deployment", () => {
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "Namespace agents",
    "ServiceAccount flotilla-agent",
    "ClusterRole flotilla-agent",
    "ClusterRoleBinding flotilla-agent",
    "Secret bootstrap-hub-kubeconfig",
    "Deployment flotilla-agent",
  ]);
});

test("the agent may impersonate ServiceAccounts, but no users or groups", () => {
  const rules = objects.flatMap(({ rules: found = [] }) => found.filter(({ verbs }) => verbs.includes("impersonate")));

  expect(rules.flatMap(({ resources }) => resources)).toEqual(["serviceaccounts"]);
});

test("several replicas use leader election, so that one serves", () => {
  const argumentsOf = (replicas: number): string =>
    JSON.stringify(
      agentManifests({
        cluster: "paris",
        namespace: "agents",
        image: "example.com/flotilla:1",
        kubeconfig: "KUBECONFIG",
        isBootstrap: true,
        replicas,
      }).at(-1),
    );

  expect(argumentsOf(1)).not.toContain("--leader-elect");
  expect(argumentsOf(1)).toContain("Recreate");
  expect(argumentsOf(2)).toContain("--leader-elect");
  expect(argumentsOf(2)).not.toContain("Recreate");
});
