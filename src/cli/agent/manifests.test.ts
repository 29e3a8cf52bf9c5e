import { expect, test } from "vitest";
import { agentManifests } from "./manifests.ts";

const objects = agentManifests({ cluster: "paris", namespace: "agents", image: "example.com/flotilla:1", kubeconfig: "KUBECONFIG", isBootstrap: true }) as { kind: string; metadata: { name: string }; rules?: { verbs: string[] }[] }[];

test("an agent is installed with a namespace, an account, rights, credentials and one pod", () => {
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["Namespace agents", "ServiceAccount flotilla-agent", "ClusterRole flotilla-agent", "ClusterRoleBinding flotilla-agent", "Secret bootstrap-hub-kubeconfig", "Deployment flotilla-agent"]);
});

test("it may not become anybody else", () => {
  expect(objects.flatMap(({ rules = [] }) => rules.flatMap(({ verbs }) => verbs))).not.toContain("impersonate");
});
