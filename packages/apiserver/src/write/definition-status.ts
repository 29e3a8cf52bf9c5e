/** Writes the status of CRDs under the server's own field manager. */
import { required } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { CRD_GROUP, CRD_PLURAL } from "../resources/definition.ts";
import { ownChange, ownContext, ownOptions } from "./own-request.ts";
import type { WriteDependencies } from "./store-object.ts";
import { rewriteObject } from "./update.ts";

/** The field manager that Kubernetes uses for these fields. */
const OPTIONS = ownOptions("kube-apiserver");

export async function writeDefinitionStatus(
  deps: WriteDependencies,
  cluster: LogicalCluster,
  name: string,
  change: (definition: JsonObject) => JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const resource = required(cluster.table.resource(CRD_GROUP, CRD_PLURAL), "the kind CustomResourceDefinition");
  const context = ownContext({ cluster, resource, name }, "status", signal);
  await rewriteObject(deps, { context, options: OPTIONS, verb: "update" }, (old) => ownChange(change(old)));
}
