/** Ingress: its addresses are those of all members; it depends on the Secrets of its certificates. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { InterpretError } from "../interpreter/interpret-error.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { reportedStatuses, replaceStatus } from "../interpreter/replica-status.ts";
import { hasAddress, mergeLoadBalancers } from "../interpreter/load-balancer.ts";

interface Ingress extends KubernetesObject {
  spec?: { tls?: { secretName?: string }[] };
  status?: JsonObject;
}

export const ingressInterpreter: KindInterpreter<Ingress> = {
  group: "networking.k8s.io",
  kind: "Ingress",
  aggregateStatus: (ingress, items) =>
    replaceStatus(ingress, { loadBalancer: mergeLoadBalancers(reportedStatuses(items)) }),
  isHealthy: (object) => hasAddress(object),
  dependencies({ metadata: { name, namespace }, spec }) {
    return (spec?.tls ?? []).map(({ secretName }, index) => {
      if (!secretName)
        throw new InterpretError(`reading the dependencies of Ingress ${name}: spec.tls[${index}].secretName is empty`);
      return { apiVersion: "v1", kind: "Secret", namespace: namespace || undefined, name: secretName };
    });
  },
};
