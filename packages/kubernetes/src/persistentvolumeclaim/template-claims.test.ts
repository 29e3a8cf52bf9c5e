import { expect, test } from "vitest";
import { makeClaims, withClaimVolumes } from "./template-claims.ts";
import type { ReadonlyClaim } from "./template-claims.ts";

const template: ReadonlyClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", labels: { tier: "disk" } },
  spec: { accessModes: ["ReadWriteOnce"] },
};
const owner = { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web", uid: "u", controller: true };

test("a claim has the name, labels and owner that the workload kind defines", () => {
  const claims = makeClaims([template], {
    namespace: "shop",
    nameOf: (name) => `${name}-web-1`,
    labels: { app: "web" },
    owner,
  });

  expect(claims.get("data")).toEqual({
    ...template,
    metadata: { name: "data-web-1", namespace: "shop", labels: { tier: "disk", app: "web" }, ownerReferences: [owner] },
  });
});

test("a pod mounts its claims in place of volumes of the same name", () => {
  const claims = makeClaims([template], { namespace: "shop", nameOf: (name) => `${name}-web-1`, labels: {} });

  const spec = withClaimVolumes(
    {
      volumes: [
        { name: "data", emptyDir: {} },
        { name: "tmp", emptyDir: {} },
      ],
    },
    claims,
  );

  expect(spec.volumes).toEqual([
    { name: "data", persistentVolumeClaim: { claimName: "data-web-1" } },
    { name: "tmp", emptyDir: {} },
  ]);
});
