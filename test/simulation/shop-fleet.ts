/** A fleet with the namespace `shop` and one policy, for tests of a workload `web` that the policy divides. */
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { RolloutStrategy } from "@flotilla/flotilla";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

export const WEB = { cluster: "hub", namespace: "shop", name: "web" };

/** Members have two nodes. */
export async function startShop(members: readonly string[], policy: PropagationPolicy): Promise<TestFleet> {
  const fleet = await startTestFleet({ members: [...members], nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  return fleet;
}

/** The strategy `careful`, which leads releases of workloads with the label `release: careful`. */
export const createStrategy = (client: Client, spec: object): Promise<unknown> =>
  client.create(RolloutStrategy, "hub", {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { name: "careful", namespace: "shop" },
    spec: { selector: { matchLabels: { release: "careful" } }, ...spec },
  } as unknown as RolloutStrategy);

/** Another image for `web`, whose new pods have the fault if one is given. */
export function releaseImage(client: Client, kind: Kind, image: string, fault?: string): Promise<unknown> {
  const template: JsonObject = {
    metadata: { annotations: { "simulation.flotilla.dev/fault": fault ?? null } },
    spec: { containers: [{ name: "web", image }] },
  };
  return client.patch(kind, WEB, { spec: { template } }, { type: "merge" });
}
