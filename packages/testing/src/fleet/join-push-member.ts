/** Joins a member that the hub reaches: credentials, whose token is of no use, and the Cluster that names them. */
import { isAlreadyExists } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";

export async function joinPushMember(client: Client, hub: string, name: string): Promise<void> {
  const credentials = { namespace: "karmada-cluster", name };
  try {
    await client.create(Secret, hub, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: credentials,
      data: { token: "dG9rZW4=", caBundle: "" },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error; // It joined before.
  }
  await client.create(Cluster, hub, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: {
      syncMode: "Push",
      id: `${name}-id`,
      apiEndpoint: `https://${name}.example.com`,
      secretRef: credentials,
    },
  });
}
