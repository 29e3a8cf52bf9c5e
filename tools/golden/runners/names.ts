/** `names.jsonl`: function and arguments to the name. */
import { compareResults, pick } from "../compare-results.ts";
import type { CaseRunner } from "../golden.ts";
import {
  bindingName,
  bindingReferenceKey,
  clusterNameOf,
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
  serviceAccountName: (cluster = "") => serviceAccountName(cluster),
  impersonationSecretName: (cluster = "") => impersonationSecretName(cluster),
  isReservedNamespace: (namespace = "") => isReservedNamespace(namespace),
  namespacedKey: (namespace = "", name = "") => namespacedKey(namespace, name),
};

/** Names that Karmada gives objects which Flotilla does not create. */
const NOT_USED = ["derivedServiceName", "endpointSliceName"];

export const names: CaseRunner = {
  ...compareResults({
    run(input) {
      if (NOT_USED.includes(input["function"] as string)) throw new Error("no object has this name");
      return { result: pick(functions, input["function"])(...(input["args"] as string[])) };
    },
  }),
  reasonFor: ({ input = {} }) =>
    NOT_USED.includes(input["function"] as string)
      ? "Flotilla has no MultiClusterService, whose controllers create these EndpointSlices and Services."
      : undefined,
};
