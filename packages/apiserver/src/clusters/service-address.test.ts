import { expect, test } from "vitest";
import type { ClusterReader } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { serviceAddress } from "./service-address.ts";

/** A cluster with these objects, by kind. */
const clusterOf = (objects: {
  Service?: JsonObject;
  EndpointSlice?: JsonObject[];
  Endpoints?: JsonObject;
}): ClusterReader =>
  ({
    get: ({ plural }: { plural: string }) => (plural === "services" ? objects.Service : objects.Endpoints),
    list: () => objects.EndpointSlice ?? [],
  }) as unknown as ClusterReader;

const WANTED = { namespace: "shop", name: "hooks", port: 443 };
const service = (spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject => ({
  metadata: { name: "hooks", annotations },
  spec: { ports: [{ name: "https", port: 443, targetPort: 9443 }], ...spec },
});
const slice = (
  endpoints: JsonObject[],
  labels: JsonObject = { "kubernetes.io/service-name": "hooks" },
): JsonObject => ({
  metadata: { labels },
  addressType: "IPv4",
  ports: [{ name: "https", port: 9443 }],
  endpoints,
});

const ANNOTATION = "example.com/address";

test("a Service is called at its first ready endpoint", () => {
  const read = clusterOf({
    Service: service(),
    EndpointSlice: [
      slice([{ addresses: ["10.0.0.9"] }], { "kubernetes.io/service-name": "other" }),
      slice([{ addresses: ["10.0.0.1"], conditions: { ready: false } }, { addresses: ["10.0.0.2"] }]),
    ],
  });

  expect(serviceAddress(read, WANTED, ANNOTATION)).toEqual({ host: "10.0.0.2", port: 9443 });
});

test("Endpoints are used where no EndpointSlice has an address", () => {
  const read = clusterOf({
    Service: service(),
    Endpoints: { subsets: [{ addresses: [{ ip: "10.0.0.3" }], ports: [{ name: "https", port: 9443 }] }] },
  });

  expect(serviceAddress(read, WANTED, ANNOTATION)).toEqual({ host: "10.0.0.3", port: 9443 });
});

test("an external name is called by name", () => {
  const read = clusterOf({ Service: service({ type: "ExternalName", externalName: "hooks.example.com" }) });

  expect(serviceAddress(read, WANTED, ANNOTATION)).toEqual({ host: "hooks.example.com", port: 443 });
});

test("the annotation wins over endpoints", () => {
  const read = clusterOf({ Service: service({}, { [ANNOTATION]: "[::1]:9443" }) });

  expect(serviceAddress(read, WANTED, ANNOTATION)).toEqual({ host: "::1", port: 9443 });
});

test("a server without such an annotation calls endpoints", () => {
  const read = clusterOf({
    Service: service({}, { [ANNOTATION]: "[::1]:9443" }),
    EndpointSlice: [slice([{ addresses: ["10.0.0.2"] }])],
  });

  expect(serviceAddress(read, WANTED, undefined)).toEqual({ host: "10.0.0.2", port: 9443 });
});

const unusable: Record<string, [Parameters<typeof clusterOf>[0], message: string]> = {
  "no Service": [{}, 'service "hooks" not found in namespace "shop"'],
  "a port that it does not have": [{ Service: service({ ports: [] }) }, 'service "hooks" has no port 443'],
  "no endpoint": [{ Service: service() }, 'no endpoints available for service "hooks"'],
  "an annotation that is not an address": [
    { Service: service({}, { [ANNOTATION]: "http://127.0.0.1:1/x" }) },
    'the annotation example.com/address is "http://127.0.0.1:1/x", which is not HOST:PORT',
  ],
};
for (const [what, [objects, message]] of Object.entries(unusable)) {
  test(`cannot be called: ${what}`, () => {
    expect(() => serviceAddress(clusterOf(objects), WANTED, ANNOTATION)).toThrow(message);
  });
}
