/**
 * The initial network objects of a cluster: the address range of its Services, and the Service default/kubernetes with
 * its endpoints, through which pods reach the cluster's API server. Every cluster has it; clients and test suites
 * expect it.
 */
import { SERVICE_NAME_LABEL } from "../well-known-names.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { EndpointSlice } from "../endpointslice/endpointslice-kind.ts";
import type { Endpoints, Service } from "@flotilla/apimachinery/facts/core-v1.ts";
import { addressOfService } from "../service-cidr/ip-address.ts";
import { defaultServiceCidr } from "../service-cidr/service-cidr.ts";

/** The same for every cluster. */
export const SERVICE_RANGE = "10.96.0.0/16";
/** Reserved in that range. */
const API_SERVER_ADDRESS = "10.96.0.1";

const NAME = { name: "kubernetes", namespace: "default" };
const PORT = { name: "https", protocol: "TCP" } as const;

/** The addresses of Services; `since` is when the range became ready. */
export function serviceAddresses(since: string): KubernetesObject[] {
  return [addressOfService(API_SERVER_ADDRESS, NAME), defaultServiceCidr(SERVICE_RANGE, since)];
}

/** `endpoint` is the address of the server as pods see it. */
export function apiServerService({ address, port }: { address: string; port: number }): KubernetesObject[] {
  const service: Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...NAME, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      ports: [{ ...PORT, port: 443, targetPort: port }],
      clusterIP: API_SERVER_ADDRESS,
      clusterIPs: [API_SERVER_ADDRESS],
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    },
    status: { loadBalancer: {} },
  };
  const endpoints: Endpoints = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { ...NAME, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: [{ ip: address }], ports: [{ ...PORT, port }] }],
  };
  const slice: EndpointSlice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...NAME, labels: { [SERVICE_NAME_LABEL]: "kubernetes" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ ...PORT, port }],
  };
  return [service, endpoints, slice];
}
