import { expect, test } from "vitest";
import { EndpointSlice, Ingress, IngressClass, Namespace } from "@flotilla/kubernetes";
import type { Profile } from "../clusters/profiles.ts";
import { createTestServer } from "../test-server.ts";

const profile: Profile = {
  builtIns: [Namespace, Ingress, IngressClass, EndpointSlice],
  customs: [],
  objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
};
const INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
const CLASSES = "/apis/networking.k8s.io/v1/ingressclasses";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

const ingress = (name: string, spec: object = {}, annotations = {}): object => ({
  metadata: { name, annotations },
  spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } }, ...spec },
});

test("an Ingress without a class gets the default class", async () => {
  const { request } = await createTestServer({ profiles: { hub: profile } });
  await request("POST", CLASSES, {
    metadata: { name: "x", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
    spec: { controller: "a.b/c" },
  });

  const [open, named, annotated] = [
    await request("POST", INGRESSES, ingress("a")),
    await request("POST", INGRESSES, ingress("b", { ingressClassName: "y" })),
    await request("POST", INGRESSES, ingress("c", {}, { "kubernetes.io/ingress.class": "z" })),
  ];

  expect(open.body.spec).toMatchObject({ ingressClassName: "x" });
  expect(named.body.spec).toMatchObject({ ingressClassName: "y" });
  expect(annotated.body.spec).not.toHaveProperty("ingressClassName");
});

test("changing labels increases the generation of an EndpointSlice, changing annotations does not", async () => {
  const { request } = await createTestServer({ profiles: { hub: profile } });
  const headers = { "content-type": "application/merge-patch+json" };
  await request("POST", SLICES, { metadata: { name: "s" }, addressType: "IPv4", endpoints: [], ports: [] });

  const annotated = await request("PATCH", `${SLICES}/s`, { metadata: { annotations: { a: "b" } } }, headers);
  const labelled = await request("PATCH", `${SLICES}/s`, { metadata: { labels: { a: "b" } } }, headers);

  expect(annotated.body.metadata).toMatchObject({ generation: 1 });
  expect(labelled.body.metadata).toMatchObject({ generation: 2 });
  expect(labelled.body).not.toHaveProperty("endpoints");
});
