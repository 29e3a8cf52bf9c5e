/** `names.jsonl`: function and arguments to the name. */
import * as derived from "../../../src/api/index.ts";
import { compareResults, pick } from "../compare.ts";

const functions: Readonly<Record<string, (...args: string[]) => string | boolean>> = {
  bindingName: (kind = "", name = "") => derived.bindingName(kind, name),
  workName: (kind = "", name = "", namespace = "") => derived.workName(kind, name, namespace),
  executionNamespace: (cluster = "") => derived.executionNamespace(cluster),
  clusterNameOf(namespace = "") {
    const cluster = derived.clusterNameOf(namespace);
    if (cluster === undefined) throw new Error(`${namespace} is not an execution namespace`);
    return cluster;
  },
  bindingReferenceKey: (namespace = "", name = "") => derived.bindingReferenceKey(namespace, name),
  policyName: (namespace = "", name = "", gvk = "") => derived.policyName(namespace, name, gvk),
  derivedServiceName: (service = "") => derived.derivedServiceName(service),
  endpointSliceName: (endpointSlice = "", cluster = "") => derived.endpointSliceName(endpointSlice, cluster),
  serviceAccountName: (cluster = "") => derived.serviceAccountName(cluster),
  impersonationSecretName: (cluster = "") => derived.impersonationSecretName(cluster),
  isReservedNamespace: (namespace = "") => derived.isReservedNamespace(namespace),
  namespacedKey: (namespace = "", name = "") => derived.namespacedKey(namespace, name),
};

export const names = compareResults({
  run: (input) => ({ result: pick(functions, input["function"])(...(input["args"] as string[])) }),
});
