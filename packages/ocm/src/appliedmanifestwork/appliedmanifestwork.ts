import type { KubernetesObject, Sent } from "@flotilla/apimachinery";
import { defineKind } from "@flotilla/kubernetes";
import { AppliedManifestWork } from "./appliedmanifestwork-kind.ts";

const example: KubernetesObject & Pick<Sent<AppliedManifestWork>, "spec"> = {
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "AppliedManifestWork",
  metadata: { name: "web" },
  spec: { hubHash: "abc", manifestWorkName: "web" },
};

export const appliedManifestWork = defineKind({ kind: AppliedManifestWork, example });
