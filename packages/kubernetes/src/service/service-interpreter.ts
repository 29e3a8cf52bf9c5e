/** Service: a member allocates its addresses; only load balancer addresses are meaningful outside of it. */
import { omitZero } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { reportedStatuses, statusOf, replaceStatus } from "../interpreter/replica-status.ts";
import { hasAddress, mergeLoadBalancers } from "../interpreter/load-balancer.ts";

interface Service extends KubernetesObject {
  spec?: { type?: string; clusterIP?: string; clusterIPs?: string[]; healthCheckNodePort?: number };
  status?: JsonObject;
}

export const serviceInterpreter: KindInterpreter<Service> = {
  group: "",
  kind: "Service",
  retain(desired, observed) {
    const { healthCheckNodePort = 0, clusterIP = "" } = observed.spec ?? {};
    if (healthCheckNodePort <= 0 && clusterIP === "") return desired;
    return {
      ...desired,
      spec: {
        ...desired.spec,
        ...omitZero({ healthCheckNodePort, clusterIP }),
      },
    };
  },
  reflectStatus(service) {
    const status = service.spec?.type === "LoadBalancer" ? statusOf(service) : undefined;
    return status && { loadBalancer: status["loadBalancer"] ?? {} };
  },
  aggregateStatus(service, items) {
    if (service.spec?.type !== "LoadBalancer") return service;
    return replaceStatus(service, { loadBalancer: mergeLoadBalancers(reportedStatuses(items)) });
  },
  prune(service) {
    if (service.spec?.clusterIP === undefined || service.spec.clusterIP === "None") return service;
    const { clusterIP: _clusterIP, clusterIPs: _clusterIPs, ...spec } = service.spec;
    return { ...service, spec };
  },
  isHealthy: (object) => object.spec?.type !== "LoadBalancer" || hasAddress(object),
};
