/** Queries the hub for what an agent may do there: whether it may read Works, ManifestWorks or both. */
import { ManifestWork } from "@flotilla/ocm";
import { SelfSubjectAccessReview } from "@flotilla/kubernetes";
import { executionNamespace, Work } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import type { HubApis } from "./create-agent.ts";

export async function readHubApis(client: Client, hub: string, cluster: string, signal: AbortSignal): Promise<HubApis> {
  const mayList = async ({ group, plural }: Kind, namespace: string): Promise<boolean> => {
    const { status } = await client.create(
      SelfSubjectAccessReview,
      hub,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        metadata: { name: "" },
        spec: { resourceAttributes: { verb: "list", group, resource: plural, namespace } },
      },
      { signal },
    );
    return status?.allowed === true;
  };
  const [karmada, ocm] = await Promise.all([
    mayList(Work, executionNamespace(cluster)),
    mayList(ManifestWork, cluster),
  ]);
  return { karmada, ocm };
}
