/** `names.jsonl`: function and arguments to the name. */
import { compareResults, pick } from "../compare.ts";
import {
  bindingName,
  bindingReferenceKey,
  clusterNameOf,
  derivedServiceName,
  endpointSliceName,
  executionNamespace,
  impersonationSecretName,
  isReservedNamespace,
  namespacedKey,
  policyName,
  serviceAccountName,
  workName,
} from "@flotilla/karmada";

const functions: Readonly<Record<string, (...args: string[]) => string | boolean>> = {
  bindingName: (kind = "", name = "") => bindingName(kind, name),
  workName: (kind = "", name = "", namespace = "") => workName(kind, name, namespace),
  executionNamespace: (cluster = "") => executionNamespace(cluster),
  clusterNameOf(namespace = "") {
    const cluster = clusterNameOf(namespace);
    if (cluster === undefined) throw new Error(`${namespace} is not an execution namespace`);
    return cluster;
  },
  bindingReferenceKey: (namespace = "", name = "") => bindingReferenceKey(namespace, name),
  policyName: (namespace = "", name = "", gvk = "") => policyName(namespace, name, gvk),
  derivedServiceName: (service = "") => derivedServiceName(service),
  endpointSliceName: (endpointSlice = "", cluster = "") => endpointSliceName(endpointSlice, cluster),
  serviceAccountName: (cluster = "") => serviceAccountName(cluster),
  impersonationSecretName: (cluster = "") => impersonationSecretName(cluster),
  isReservedNamespace: (namespace = "") => isReservedNamespace(namespace),
  namespacedKey: (namespace = "", name = "") => namespacedKey(namespace, name),
};

export const names = compareResults({
  run: (input) => ({ result: pick(functions, input["function"])(...(input["args"] as string[])) }),
});
