import { expect, test } from "vitest";
import { Namespace, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import type { Profile } from "../clusters/profiles.ts";
import { createTestServer, type TestServer } from "../test-server.ts";

const profile: Profile = {
  builtIns: [Namespace, PersistentVolume, PersistentVolumeClaim, StorageClass],
  customs: [],
  objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
};
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES = "/api/v1/persistentvolumes";
const CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const MERGE = { "content-type": "application/merge-patch+json" };

const start = (): Promise<TestServer> => createTestServer({ profiles: { hub: profile } });
const claim = (spec: object = {}): object => ({
  metadata: { name: "c" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const storageClass = (name: string, fields: object = {}, isDefault = true): object => ({
  metadata: { name, annotations: isDefault ? { "storageclass.kubernetes.io/is-default-class": "true" } : undefined },
  provisioner: "p",
  ...fields,
});
const specOf = (body: JsonObject) => body.spec as { storageClassName?: string };

test("a claim without a class gets the default class, which its writer does not own", async () => {
  const { request } = await start();
  await request("POST", CLASSES, storageClass("b"));
  await request("POST", CLASSES, storageClass("a"));
  await request("POST", CLASSES, storageClass("0", {}, false));

  const { body } = await request("POST", CLAIMS, claim());

  expect(specOf(body).storageClassName).toBe("a");
  expect(JSON.stringify(body.metadata)).not.toContain("f:storageClassName");
});

test("an explicitly empty class stays empty", async () => {
  const { request } = await start();
  await request("POST", CLASSES, storageClass("a"));

  const { body } = await request("POST", CLAIMS, claim({ storageClassName: "" }));

  expect(specOf(body).storageClassName).toBe("");
});

test("a bound claim can be expanded when its class allows it", async () => {
  const { request } = await start();
  await request("POST", CLASSES, storageClass("fixed", {}, false));
  await request("POST", CLASSES, storageClass("elastic", { allowVolumeExpansion: true }, false));
  const grow = async (storageClassName: string) => {
    const name = `c-${storageClassName}`;
    await request("POST", CLAIMS, { ...claim({ storageClassName }), metadata: { name } });
    await request(
      "PATCH",
      `${CLAIMS}/${name}/status`,
      { status: { phase: "Bound", capacity: { storage: "1Gi" } } },
      MERGE,
    );
    return request("PATCH", `${CLAIMS}/${name}`, { spec: { resources: { requests: { storage: "2Gi" } } } }, MERGE);
  };

  const [fixed, elastic] = [await grow("fixed"), await grow("elastic")];

  expect(fixed.body.message).toBe(
    'persistentvolumeclaims "c-fixed" is forbidden: only dynamically provisioned pvc can be resized and the ' +
      "storageclass that provisions the pvc must support resize",
  );
  expect(elastic.status).toBe(200);
});

test("claims and volumes get a protection finalizer and start as Pending", async () => {
  const { request } = await start();

  const created = await request("POST", CLAIMS, claim());
  const volume = await request("POST", VOLUMES, {
    metadata: { name: "v", finalizers: ["a.b/c"] },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  });

  expect(created.body).toMatchObject({
    metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
    status: { phase: "Pending" },
  });
  expect(volume.body).toMatchObject({
    metadata: { finalizers: ["a.b/c", "kubernetes.io/pv-protection"] },
    status: { phase: "Pending", lastPhaseTransitionTime: "2024-05-01T12:00:00Z" },
  });
});

test("a change of a volume's phase sets its transition time", async () => {
  const { request, clock } = await start();
  await request("POST", VOLUMES, {
    metadata: { name: "v" },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  });
  clock.advance(60_000);

  const noted = await request("PATCH", `${VOLUMES}/v/status`, { status: { message: "m" } }, MERGE);
  const bound = await request("PATCH", `${VOLUMES}/v/status`, { status: { phase: "Bound" } }, MERGE);

  expect(noted.body.status).toMatchObject({ lastPhaseTransitionTime: "2024-05-01T12:00:00Z" });
  expect(bound.body.status).toMatchObject({ phase: "Bound", lastPhaseTransitionTime: "2024-05-01T12:01:00Z" });
});
