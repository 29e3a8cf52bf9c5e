import { expect, test } from "vitest";
import { Deployment } from "@flotilla/kubernetes";
import { describeDeletion } from "./run-delete.ts";

const deletion = { kind: Deployment, namespace: "shop", name: "web" } as never;
const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };

test("a deletion names the members that lose the object", () => {
  const spec = {
    resource,
    clusters: [
      { name: "member1", replicas: 1 },
      { name: "member2", replicas: 3 },
    ],
  };

  expect(describeDeletion(deletion, { spec })).toBe(
    "- Deployment shop/web: on the hub and on member1 (1 replica), member2 (3 replicas)",
  );
});

test("a policy that preserves its objects is named", () => {
  const spec = { resource, clusters: [{ name: "member1" }], preserveResourcesOnDeletion: true };

  expect(describeDeletion(deletion, { spec })).toBe(
    "- Deployment shop/web: on the hub; its policy preserves it on member1",
  );
});

test("an object without a binding is on the hub only", () => {
  expect(describeDeletion(deletion, undefined)).toBe("- Deployment shop/web: on the hub only");
});
