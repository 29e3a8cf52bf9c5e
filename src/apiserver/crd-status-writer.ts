/** Writes the status of definitions in the name of the server, so that it shows among the field managers. */
import { required } from "../base/index.ts";
import type { JsonObject } from "../base/index.ts";
import type { LogicalCluster } from "./clusters.ts";
import type { RequestContext } from "./context.ts";
import { CRD_GROUP, CRD_PLURAL } from "./crd.ts";
import { metadataOf } from "./metadata.ts";
import type { WriteOptions } from "./options.ts";
import { rewriteObject } from "./write.ts";
import type { WriteDependencies } from "./write.ts";

const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "kube-apiserver", fieldValidation: "Ignore", force: false };
const NO_QUERY = new URLSearchParams();

export async function writeDefinitionStatus(deps: WriteDependencies, cluster: LogicalCluster, name: string, change: (definition: JsonObject) => JsonObject, signal: AbortSignal): Promise<void> {
  const resource = required(cluster.table.resource(CRD_GROUP, CRD_PLURAL), "the kind CustomResourceDefinition");
  const context: RequestContext = {
    cluster,
    served: resource.storage,
    name,
    subresource: "status",
    query: NO_QUERY,
    user: { name: "system:apiserver", groups: ["system:masters"] },
    userAgent: "",
    inProcess: true,
    warn: () => {},
    signal,
  };
  await rewriteObject(deps, context, OPTIONS, "update", (old) => {
    const changed = change(old);
    const { resourceVersion: _, ...metadata } = metadataOf(changed);
    return { object: { ...changed, metadata }, duplicates: [], requiresVersion: false };
  });
}
