import { describe, expect, test } from "vitest";
import { completedBy, review, UID } from "../../../apimachinery/src/kind/test-review.ts";
import { createWorkAdmissions } from "./work-rules.ts";
import type { Work } from "./work-kind.ts";

const ID = "work.karmada.io/permanent-id";
const RECORD = "resourcetemplate.karmada.io/managed";
const admissions = createWorkAdmissions(({ status: _status, ...manifest }) => manifest);
const work = (...manifests: unknown[]): Work => ({
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { name: "w", namespace: "karmada-es-m1" },
  spec: { workload: { manifests: manifests as never } },
});
const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", labels: { tier: "b" }, annotations: { note: "c" } },
  status: { seen: true },
};

describe("a Work that a client writes", () => {
  test("gets a permanent id, and manifests that are pruned and labelled with it", () => {
    const { metadata, spec } = completedBy(admissions, work(configMap));

    expect(metadata.labels).toEqual({ [ID]: UID });
    expect(spec.workload?.manifests).toEqual([
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "a",
          labels: { tier: "b", [ID]: UID },
          annotations: {
            note: "c",
            [`${RECORD}-annotations`]: `note,${RECORD}-annotations,${RECORD}-labels`,
            [`${RECORD}-labels`]: `tier,${ID}`,
          },
        },
      },
    ]);
  });

  test("is unchanged when it is written again", () => {
    const once = completedBy(admissions, work(configMap)) as Work;

    expect(completedBy(admissions, once, once)).toEqual(once);
  });

  const wrong: Record<string, { manifest: unknown; want: string }> = {
    "cannot have a manifest without a kind": { manifest: { a: 1 }, want: `Object 'Kind' is missing in '{"a":1}'` },
    "cannot have a manifest with a number as its version": {
      manifest: { ...configMap, apiVersion: 1 },
      want: "json: cannot unmarshal number into Go struct field .apiVersion of type string",
    },
    "cannot have a manifest with an object as its namespace": {
      manifest: { ...configMap, metadata: { name: "a", namespace: { a: 1 } } },
      want: "json: cannot unmarshal object into Go struct field ObjectMeta.namespace of type string",
    },
    "cannot have a manifest with a list as its name": {
      manifest: { ...configMap, metadata: { name: [] } },
      want: "json: cannot unmarshal array into Go struct field ObjectMeta.name of type string",
    },
    "cannot have a manifest with a text as its labels": {
      manifest: { ...configMap, metadata: { name: "a", labels: "b" } },
      want: "json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string",
    },
    "cannot have a manifest with a number as an annotation": {
      manifest: { ...configMap, metadata: { name: "a", annotations: { b: 1 } } },
      want: "json: cannot unmarshal number into Go struct field ObjectMeta.annotations of type string",
    },
    "cannot have a manifest that is not an object": {
      manifest: "a",
      want: "json: cannot unmarshal string into Go struct field WorkloadTemplate.spec.workload.manifests of type v1alpha1.Manifest",
    },
  };
  for (const [behaviour, { manifest, want }] of Object.entries(wrong)) {
    test(behaviour, () => {
      expect(() => completedBy(admissions, work(manifest))).toThrow(
        `admission webhook "work.karmada.io" denied the request: ${want}`,
      );
    });
  }
});

test("a Work of the server's own controllers gets a permanent id, and keeps its manifests as rendered", () => {
  const { object } = review(admissions, work(configMap), { byController: true });

  expect(object.metadata.labels).toEqual({ [ID]: UID });
  expect(object.spec.workload?.manifests).toEqual([configMap]);
});
