import { beforeAll, describe, expect, test } from "vitest";
import { AdvancedStatefulSet, CloneSet, SidecarSet, kruiseAdmissions } from "@flotilla/openkruise";
import { Namespace, kubernetesAdmissions } from "@flotilla/kubernetes";
import { templateRequests } from "./template-requests.ts";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import type { Answered, TestServer } from "@flotilla/testing/api-server.ts";

const GROUP = "/apis/apps.kruise.io";
const labels = { app: "web" };
const template = (image = "web:1"): object => ({
  metadata: { labels },
  spec: { containers: [{ name: "web", image }] },
});
const warningsOf = ({ headers }: Answered): string[] =>
  [headers.warning ?? []].flat().map((text) => text.replace(/^299 - "(.*)"$/, "$1"));

let server: TestServer;
beforeAll(async () => {
  server = await createTestServer({
    admissions: [...kubernetesAdmissions, ...kruiseAdmissions(), templateRequests],
    profiles: {
      hub: {
        builtIns: [Namespace],
        customs: [AdvancedStatefulSet, CloneSet, SidecarSet],
        objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
      },
    },
  });
});

describe("the writer of a raised partition", () => {
  const RAISED =
    "spec.updateStrategy.rollingUpdate.partition: raising it does not roll pods back, because a StatefulSet " +
    "keeps pods that have the release; release the previous template to replace them";
  const cases: Record<string, { from?: number; to: number; image?: string; want: string[] }> = {
    "is warned that a StatefulSet does not roll pods back": { from: 2, to: 5, want: [RAISED] },
    "is warned if the partition was unset before": { to: 1, want: [RAISED] },
    "gets no warning for a lower partition": { from: 5, to: 2, want: [] },
    "gets no warning for another release": { from: 2, to: 5, image: "web:2", want: [] },
  };
  for (const [index, [behaviour, { from, to, image, want }]] of Object.entries(cases).entries())
    test(behaviour, async () => {
      const path = `${GROUP}/v1beta1/namespaces/default/statefulsets`;
      const name = `set-${index}`;
      const created = await server.request("POST", path, {
        apiVersion: "apps.kruise.io/v1beta1",
        kind: "StatefulSet",
        metadata: { name },
        spec: {
          replicas: 6,
          selector: { matchLabels: labels },
          template: template(),
          updateStrategy: { rollingUpdate: { partition: from } },
        },
      });
      expect(created.status).toBe(201);

      const answer = await server.request(
        "PATCH",
        `${path}/${name}`,
        { spec: { template: template(image), updateStrategy: { rollingUpdate: { partition: to } } } },
        { "content-type": "application/merge-patch+json" },
      );

      expect(answer.status).toBe(200);
      expect(warningsOf(answer)).toEqual(want);
    });
});

describe("the writer of pods to delete is warned about names that no pod of the CloneSet can have", () => {
  const long = "a".repeat(60);
  const cases: Record<string, { name: string; podsToDelete: string[]; want: string[] }> = {
    "of another workload, whose name may begin alike": {
      name: "web",
      podsToDelete: ["cart-x2b9k", "webshop-k4d7p", "web-k4d7p"],
      want: [
        "spec.scaleStrategy.podsToDelete: cart-x2b9k, webshop-k4d7p cannot be a pod of CloneSet web: the names of its pods begin with web-",
      ],
    },
    "of a CloneSet whose name is shortened in those of its pods": {
      name: long,
      podsToDelete: ["cart-x2b9k", `${"a".repeat(50)}-k4d7p`],
      want: [
        `spec.scaleStrategy.podsToDelete: cart-x2b9k cannot be a pod of CloneSet ${long}: the names of its pods begin with ${"a".repeat(50)}`,
      ],
    },
  };
  const path = `${GROUP}/v1beta1/namespaces/default/clonesets`;
  for (const [behaviour, { name, podsToDelete, want }] of Object.entries(cases))
    test(behaviour, async () => {
      const created = await server.request("POST", path, {
        apiVersion: "apps.kruise.io/v1beta1",
        kind: "CloneSet",
        metadata: { name },
        spec: { replicas: 2, selector: { matchLabels: labels }, template: template(), scaleStrategy: {} },
      });
      expect(created.status).toBe(201);

      const answer = await server.request(
        "PATCH",
        `${path}/${name}`,
        { spec: { scaleStrategy: { podsToDelete } } },
        { "content-type": "application/merge-patch+json" },
      );

      expect(warningsOf(answer)).toEqual(want);
    });
});
