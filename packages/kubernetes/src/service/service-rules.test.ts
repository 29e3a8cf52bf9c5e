import { expect, test } from "vitest";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import type { FieldError, Review } from "@flotilla/apimachinery";
import { makeReview } from "../../../apimachinery/src/kind/test-review.ts";
import { type Service } from "./service-kind.ts";
import { rules } from "./service-rules.ts";
import { prepareService, type ServicePools } from "./service-prepare.ts";

const [admission] = rules;
const review = (object: DeepReadonly<Service>, old?: DeepReadonly<Service>): Review<Service> =>
  makeReview<Service>(object, old);

/** Pools that return the requested value, or otherwise a constant. */
const pools: ServicePools = {
  address: (requested = "10.96.9.9") => ({ value: requested }),
  port: (requested = 31999) => ({ value: requested }),
};

const service = (spec: object, annotations?: Record<string, string>): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "a", namespace: "default", annotations },
  spec,
});
const completed = (object: Service, old?: DeepReadonly<Service>): DeepReadonly<Service> =>
  prepareService(admission?.mutate?.(review(object, old)) as DeepReadonly<Service>, old, pools);
const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`;

function problems(object: Service, old?: DeepReadonly<Service>): string[] {
  try {
    return admission?.validate?.(review(completed(object, old), old)).map(textOf) ?? [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${String(field)}: ${String(message)}`);
  }
}

const ports = [{ port: 80 }];

test("a Service gets all defaults", () => {
  expect(completed(service({ ports })).spec).toEqual({
    ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    sessionAffinity: "None",
    type: "ClusterIP",
    internalTrafficPolicy: "Cluster",
    ipFamilyPolicy: "SingleStack",
    ipFamilies: ["IPv4"],
    clusterIP: "10.96.9.9",
    clusterIPs: ["10.96.9.9"],
  });
});

test("two protocols of one port share a node port", () => {
  const drawn: (number | undefined)[] = [];
  const counting: ServicePools = {
    ...pools,
    port(requested) {
      drawn.push(requested);
      return { value: requested ?? 31999 };
    },
  };
  const object = service({
    type: "NodePort",
    ports: [
      { name: "t", port: 53 },
      { name: "u", port: 53, protocol: "UDP" },
    ],
  });

  const { spec } = prepareService(admission?.mutate?.(review(object)) as DeepReadonly<Service>, undefined, counting);

  expect(spec?.ports?.map(({ nodePort }) => nodePort)).toEqual([31999, 31999]);
  expect(drawn).toEqual([undefined]);
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "a Service needs a port": [{}, ["spec.ports: Required value"]],
  "several ports need names": [
    { ports: [{ port: 80 }, { port: 81 }] },
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  ],
  "a port must not be zero": [
    { ports: [{ port: 0 }] },
    [
      "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
    ],
  ],
  "a cluster IP must be a valid address": [
    { ports, clusterIP: "300.1.1.1" },
    ['spec.clusterIPs[0]: Invalid value: "300.1.1.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  "IPv6 is not configured on the cluster": [
    { ports, ipFamilies: ["IPv6"] },
    ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  ],
  "an IPv6 cluster IP is not available": [
    { ports, clusterIP: "2001:db8::1" },
    ['spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster'],
  ],
  "SingleStack allows only one IP family": [
    { ports, ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4", "IPv6"] },
    [
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
    ],
  ],
  "a LoadBalancer Service cannot be headless": [
    { ports, type: "LoadBalancer", clusterIP: "None", selector: { a: "b" } },
    ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for LoadBalancer services"],
  ],
  "an ExternalName Service needs an externalName": [{ type: "ExternalName" }, ["spec.externalName: Required value"]],
  "a session affinity timeout is at most a day": [
    { ports, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 90_000 } } },
    [
      "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 90000: must be greater than 0 and less than 86400",
    ],
  ],
};
for (const [rule, [spec, want]] of Object.entries(refused)) {
  test(`rejects a Service: ${rule}`, () => {
    expect(problems(service(spec))).toEqual(want);
  });
}

const LB = { ports, type: "LoadBalancer" };
const named = (port: object): object => ({ ports: [{ name: "a", port: 80, ...port }] });

const refusedUpdates: Record<string, [before: object, after: object, want: string]> = {
  "the cluster IP is immutable": [
    { ports },
    { ports, clusterIP: "10.96.1.1" },
    'spec.clusterIPs[0]: Invalid value: ["10.96.1.1"]: may not change once set',
  ],
  "a Service cannot become headless": [
    { ports },
    { ports, clusterIP: "None" },
    'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
  ],
  "the load balancer class is immutable": [
    { ...LB, loadBalancerClass: "a.b/c" },
    { ...LB, loadBalancerClass: "x.y/z" },
    'spec.loadBalancerClass: Invalid value: "x.y/z": may not change once set',
  ],
};
for (const [rule, [before, after, want]] of Object.entries(refusedUpdates)) {
  test(`rejects an update: ${rule}`, () => {
    expect(problems(service(after), completed(service(before)))).toEqual([want]);
  });
}

const updates: Record<string, [before: object, after: object, want: object]> = {
  "node ports are kept for their ports": [
    { type: "NodePort", ...named({ nodePort: 30500 }) },
    { type: "NodePort", ...named({ port: 81 }) },
    named({ port: 81, protocol: "TCP", targetPort: 81, nodePort: 30500 }),
  ],
  "a type without node ports releases them": [
    { type: "NodePort", ...named({ nodePort: 30500 }) },
    { type: "ClusterIP", ...named({}) },
    named({ protocol: "TCP", targetPort: 80 }),
  ],
  "load balancer fields are removed with the type": [
    { ...LB, externalTrafficPolicy: "Local", loadBalancerClass: "a.b/c" },
    {
      ports,
      type: "ClusterIP",
      loadBalancerClass: "a.b/c",
      allocateLoadBalancerNodePorts: true,
      externalTrafficPolicy: "Local",
    },
    { type: "ClusterIP", clusterIP: "10.96.9.9" },
  ],
};
for (const [rule, [before, after, want]] of Object.entries(updates)) {
  test(`on update: ${rule}`, () => {
    const old = completed(service(before));

    expect(problems(service(after), old)).toEqual([]);
    expect(completed(service(after), old).spec).toMatchObject(want);
  });
}

test("an unchanged Service stays the same object", () => {
  const old = completed(service({ ports }));

  expect(prepareService(old, old, pools)).toBe(old);
});

test("warns of deprecated fields", () => {
  const object = completed(service({ ports, externalIPs: ["203.0.113.5"], trafficDistribution: "PreferClose" }));

  expect(admission?.warnings?.(review(object))).toEqual([
    "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ]);
});

test("validation does not crash on an empty Service", () => {
  const bare = { apiVersion: "v1", kind: "Service", metadata: { name: "a" } } as unknown as Service & JsonObject;

  expect(admission?.validate?.(review(bare)).map(textOf)).toContain("spec.ports: Required value");
});
