import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { VolumeAttachment } from "./volume-attachment.ts";
import { volumeAttachmentRules } from "./volume-attachment-rules.ts";

const attachment = (spec: object, status?: object): VolumeAttachment =>
  ({
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: "a" },
    spec: { attacher: "disks.example.com", nodeName: "node-1", ...spec },
    status,
  }) as VolumeAttachment;
const ofVolume = { source: { persistentVolumeName: "pv" } };
const inline = (fields: object): object => ({
  source: {
    inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi: { driver: "x.y", volumeHandle: "h" }, ...fields },
  },
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "no volume to attach": [
    { source: {} },
    ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  "both a persistent and an inline volume": [
    { source: { persistentVolumeName: "pv", inlineVolumeSpec: {} } },
    ["spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  "an inline volume with a storage class": [
    inline({ storageClassName: "fast" }),
    ["spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes"],
  ],
  "an inline block device": [
    inline({ volumeMode: "Block" }),
    [
      "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes",
    ],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf([volumeAttachmentRules], attachment(spec))).toEqual(want);
  });
}

test("accepts an inline CSI volume", () => {
  expect(problemsOf([volumeAttachmentRules], attachment(inline({})))).toEqual([]);
});

test("the spec is immutable", () => {
  const old = completedBy([volumeAttachmentRules], attachment(ofVolume));

  expect(problemsOf([volumeAttachmentRules], attachment({ ...ofVolume, nodeName: "node-2" }), old)).toEqual([
    'spec: Invalid value: {"attacher":"disks.example.com","nodeName":"node-2","source":{"persistentVolumeName":"pv"}}: field is immutable',
  ]);
});

test("the length of an error message is limited", () => {
  const old = completedBy([volumeAttachmentRules], attachment(ofVolume));

  const problems = problemsOf(
    [volumeAttachmentRules],
    attachment(ofVolume, { attached: false, attachError: { message: "x".repeat(1025), errorCode: -1 } }),
    old,
    "status",
  );

  expect(problems).toEqual([
    "status.attachError.message: Too long: may not be more than 262144 bytes",
    "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ]);
});
