/** What an administrator does to join a member: credentials for the hub, or an agent that the hub accepts. */
import { acceptMember, joinCluster } from "@flotilla/flotilla";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { Cluster } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import type { MemberOptions, SimulatedFleet } from "./simulated-fleet.ts";

const HUB = "hub";

export async function joinMember(
  { user, startAgent }: Pick<SimulatedFleet, "user" | "startAgent">,
  { name, mode }: MemberOptions,
): Promise<void> {
  const signal = new AbortController().signal;
  if (mode === "Pull") {
    await joinCluster(
      user,
      HUB,
      { name, apiEndpoint: `https://${name}.example.com`, id: `${name}-id`, syncMode: "Pull" },
      signal,
    );
    await acceptMember(user, HUB, name, signal);
    startAgent(name);
    return;
  }
  try {
    await user.create(Secret, HUB, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "karmada-cluster", name },
      data: { token: "dG9rZW4=", caBundle: "" },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  await user.create(Cluster, HUB, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: {
      syncMode: "Push",
      id: `${name}-id`,
      apiEndpoint: `https://${name}.example.com`,
      secretRef: { namespace: "karmada-cluster", name },
    },
  });
}
