/**
 * The Service under which a cluster's own API server is found from inside, default/kubernetes, and what is behind it. Every
 * cluster has it from the start; clients and test suites look for it.
 */
import type { KubernetesObject } from "../meta.ts";
import type { EndpointSlice } from "../discovery/endpoint-slice.ts";
import type { Endpoints, Service } from "../facts/core-v1.ts";

/** Reserved in every cluster's range of addresses. */
const API_SERVER_ADDRESS = "10.96.0.1";

const NAME = { name: "kubernetes", namespace: "default" };
const PORT = { name: "https", protocol: "TCP" } as const;

/** `endpoint` is where the server listens, as the cluster's pods would see it. */
export function apiServerService(endpoint: { address: string; port: number }): KubernetesObject[] {
  const { address, port } = endpoint;
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
    metadata: { ...NAME, labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ ...PORT, port }],
  };
  return [service, endpoints, slice];
}
