import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createAccessServer } from "../access/test-access.ts";
import type { AccessServer } from "../access/test-access.ts";

const ROOT = { name: "root", groups: ["system:masters"] };
const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const NO_TIME = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"';

const claim = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  ...more,
});

let server: AccessServer;
beforeEach(async () => {
  server = await createAccessServer();
});

async function send(method: string, path: string, body: JsonObject, type = "application/json"): Promise<unknown[]> {
  const { code, body: answer } = await server.ask(ROOT, method, path, body, { "content-type": type });
  return code < 300 ? [code] : [code, (answer.message as string).replace(/Invalid value: "\{.*\}": /s, "")];
}

describe("values of wrong types in what a request does not write", () => {
  test("a status that a create drops", async () => {
    const job = {
      metadata: { name: "a" },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
      status: { startTime: "x" },
    };

    expect(await send("POST", JOBS, job)).toEqual([400, `Job in version "v1" cannot be handled as a Job: ${NO_TIME}`]);
  });

  describe("of an object that exists", () => {
    beforeEach(() => server.make(CLAIMS, claim()));

    test("the status in an update", async () => {
      expect(await send("PUT", `${CLAIMS}/data`, claim({ status: { phase: true } }))).toEqual([
        400,
        'PersistentVolumeClaim in version "v1" cannot be handled as a PersistentVolumeClaim: json: cannot ' +
          "unmarshal bool into Go struct field PersistentVolumeClaimStatus.status.phase of type string",
      ]);
    });

    test("the spec in a patch of the status", async () => {
      const patch = { spec: { resources: { requests: { storage: "much" } } } };

      expect(await send("PATCH", `${CLAIMS}/data/status`, patch, "application/merge-patch+json")).toEqual([
        422,
        " \"\" is invalid: patch: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ]);
    });

    test("metadata of the server, in a patch and in a configuration", async () => {
      const metadata = { name: "data", creationTimestamp: "x" };

      expect(await send("PATCH", `${CLAIMS}/data`, { metadata }, "application/merge-patch+json")).toEqual([
        422,
        ` "" is invalid: patch: ${NO_TIME}`,
      ]);
      const path = `${CLAIMS}/data?fieldManager=me&force=true`;
      expect(await send("PATCH", path, claim({ metadata }), "application/apply-patch+yaml")).toEqual([
        500,
        "failed to convert new object (/data; /v1, Kind=PersistentVolumeClaim) to proper version: unable to " +
          `convert unstructured object to /v1, Kind=PersistentVolumeClaim: ${NO_TIME}`,
      ]);
    });

    test("a body that cannot be decoded is reported before a conflict", async () => {
      const metadata = { name: "data", resourceVersion: "1" };

      expect(await send("PUT", `${CLAIMS}/data`, claim({ metadata, spec: "none" }))).toEqual([
        400,
        'PersistentVolumeClaim in version "v1" cannot be handled as a PersistentVolumeClaim: json: cannot ' +
          "unmarshal string into Go struct field PersistentVolumeClaim.spec of type v1.PersistentVolumeClaimSpec",
      ]);
      expect(await send("PUT", `${CLAIMS}/data`, claim({ metadata }))).toEqual([
        409,
        expect.stringContaining("the object has been modified"),
      ]);
    });

    test("a resourceVersion that is not a number is not a conflict, also in a configuration", async () => {
      const metadata = { name: "data", resourceVersion: "x" };
      const path = `${CLAIMS}/data?fieldManager=me&force=true`;

      expect(await send("PATCH", path, claim({ metadata }), "application/apply-patch+yaml")).toEqual([
        500,
        'strconv.ParseUint: parsing "x": invalid syntax',
      ]);
    });

    test("immutable metadata in an update of the status", async () => {
      const patch = { metadata: { deletionGracePeriodSeconds: 5 } };

      expect(await send("PATCH", `${CLAIMS}/data/status`, patch, "application/merge-patch+json")).toEqual([
        422,
        'PersistentVolumeClaim "data" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
      ]);
    });
  });

  test("unknown fields in the status of an object and in the spec of a status are found", async () => {
    await server.make(CLAIMS, claim());
    const put = claim({ status: { phase: "Bound", colour: "red" } });

    expect(await send("PUT", `${CLAIMS}/data?fieldValidation=Strict`, put)).toEqual([
      400,
      'PersistentVolumeClaim in version "v1" cannot be handled as a PersistentVolumeClaim: strict decoding error: unknown field "status.colour"',
    ]);
    const path = `${CLAIMS}/data/status?fieldValidation=Strict`;
    expect(await send("PATCH", path, { spec: { colour: "red" } }, "application/merge-patch+json")).toEqual([
      422,
      ' "" is invalid: patch: strict decoding error: unknown field "spec.colour"',
    ]);
    expect(await send("PUT", `${CLAIMS}/data`, put)).toEqual([200]);
  });

  test("unknown fields of a HorizontalPodAutoscaler in v1 are found", async () => {
    const body = {
      metadata: { name: "a" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" }, maxReplicas: 2, most: 3 },
    };
    const path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?fieldValidation=Strict";

    expect(await send("POST", path, body)).toEqual([
      400,
      'HorizontalPodAutoscaler in version "v1" cannot be handled as a HorizontalPodAutoscaler: strict decoding error: unknown field "spec.most"',
    ]);
  });
});
