import type { ClusterReader } from "@flotilla/apimachinery";
import { expect, test } from "vitest";
import { agentRegistration, isReplacedRegistration } from "./agent-registration.ts";

const stored: Record<string, string> = {
  "clusterroles/system:karmada:paris:agent": "role-1",
  "managedclusters/oslo": "cluster-1",
};
const read: Pick<ClusterReader, "get"> = {
  get: ({ plural }: { plural: string }, _namespace: string | undefined, name: string) => {
    const uid = stored[`${plural}/${name}`];
    return uid === undefined ? undefined : ({ metadata: { name, uid } } as never);
  },
};

const users: Record<string, { user: string; want: string | undefined }> = {
  "of Karmada's agent is its ClusterRole": { user: "system:karmada:agent:paris", want: "role-1" },
  "of Open Cluster Management's agent is its ManagedCluster": {
    user: "system:open-cluster-management:oslo:agent1",
    want: "cluster-1",
  },
  "of an agent without a cluster does not exist": {
    user: "system:open-cluster-management:rome:agent1",
    want: undefined,
  },
  "of another user does not exist": { user: "oslo", want: undefined },
};
for (const [behaviour, { user, want }] of Object.entries(users)) {
  test(`the registration ${behaviour}`, () => {
    expect(agentRegistration(user, read)).toBe(want);
  });
}

const AGENT = "system:open-cluster-management:oslo:agent1";

test("a certificate is for one registration", () => {
  expect(isReplacedRegistration(AGENT, "cluster-1", read)).toBe(false);
  expect(isReplacedRegistration(AGENT, "cluster-0", read)).toBe(true);
});

test("a certificate of a cluster that left is not rejected: its agent finds that it has no permissions", () => {
  expect(isReplacedRegistration("system:karmada:agent:rome", "role-0", read)).toBe(false);
});
