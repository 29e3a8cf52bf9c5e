/** Queries the hub for what an agent may do there: whether it may read Works, ManifestWorks or both. */
import { executionNamespace, ManifestWork, SelfSubjectAccessReview, Work } from "../api/index.ts";
import type { Kind } from "../api/index.ts";
import type { Client } from "../client/index.ts";
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
