/** Writes the status of definitions in the name of the server, so that it shows among the field managers. */
import { required } from "../../base/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { LogicalCluster } from "../clusters/clusters.ts";
import { CRD_GROUP, CRD_PLURAL } from "./crd.ts";
import { ownChange, ownContext, ownOptions } from "../write/own-request.ts";
import { rewriteObject } from "../write/write.ts";
import type { WriteDependencies } from "../write/write.ts";

/** As Kubernetes names the manager of these fields. */
const OPTIONS = ownOptions("kube-apiserver");

export async function writeDefinitionStatus(
  deps: WriteDependencies,
  cluster: LogicalCluster,
  name: string,
  change: (definition: JsonObject) => JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const resource = required(cluster.table.resource(CRD_GROUP, CRD_PLURAL), "the kind CustomResourceDefinition");
  await rewriteObject(deps, ownContext({ cluster, resource, name }, "status", signal), OPTIONS, "update", (old) =>
    ownChange(change(old)),
  );
}
