import { expect, test } from "vitest";
import type { Service } from "@flotilla/kubernetes";
import { serviceAddress } from "./service-address.ts";

const makeService = (spec: Service["spec"]): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "hooks", namespace: "shop" },
  spec,
});
const ports = [{ port: 443 }, { port: 8443 }];

test("a Service resolves to its cluster IP", () => {
  expect(serviceAddress(makeService({ clusterIP: "10.96.0.9", ports }), 8443)).toEqual({
    host: "10.96.0.9",
    port: 8443,
  });
  expect(serviceAddress(makeService({ type: "LoadBalancer", clusterIP: "10.96.0.9", ports }), 443)).toEqual({
    host: "10.96.0.9",
    port: 443,
  });
});

test("an ExternalName Service resolves to its name, at any port", () => {
  expect(serviceAddress(makeService({ type: "ExternalName", externalName: "hooks.example.com" }), 9443)).toEqual({
    host: "hooks.example.com",
    port: 9443,
  });
});

test("a missing Service has no address", () => {
  expect(serviceAddress(undefined, 443)).toBeUndefined();
});

const unreachable: Record<string, [Service["spec"], string]> = {
  "is headless": [{ clusterIP: "None", ports }, "it has no cluster IP"],
  "does not have the port": [{ clusterIP: "10.96.0.9", ports: [{ port: 80 }] }, "it has no port 443"],
  "has type ExternalName without a name": [{ type: "ExternalName" }, "it has type ExternalName but no externalName"],
};
for (const [what, [spec, message]] of Object.entries(unreachable)) {
  test(`a Service that ${what} is rejected`, () => {
    expect(() => serviceAddress(makeService(spec), 443)).toThrow(message);
  });
}
