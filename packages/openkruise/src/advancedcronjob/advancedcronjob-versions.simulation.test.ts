/** Image pulls in v1alpha1; `advancedcronjob-versions.test.ts` covers the fields that both versions have. */
import { expect, test } from "vitest";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { fromStorage, toStorage } from "./advancedcronjob-versions.ts";

const pulls = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "AdvancedCronJob",
  metadata: { name: "pull" },
  spec: {
    schedule: "0 * * * *",
    template: { imageListPullJobTemplate: { spec: { images: ["web:1"], completionPolicy: {} } } },
  },
};

test("v1alpha1 shows an AdvancedCronJob of image pulls without its template", () => {
  expect(fromStorage(pulls)).toEqual({
    ...pulls,
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: { schedule: "0 * * * *", template: {} },
  });
});

test("an update in v1alpha1 that would remove image pulls is rejected", async () => {
  const member = endsWithTest(await startTestMember({ customs: [AdvancedCronJob], nodes: 0, controllers: () => [] }));
  await member.client.create(AdvancedCronJob, MEMBER, { ...pulls, metadata: { name: "pull", namespace: NAMESPACE } });
  const alpha = { ...AdvancedCronJob, storageVersion: "v1alpha1" };
  const read = await member.get(alpha, "pull");

  const updated = member.client.update(alpha, MEMBER, { ...read, spec: { ...read.spec, paused: true } });

  await expect(updated).rejects.toThrow("spec must have one template");
});

test("an object without a spec converts in both directions", () => {
  const { spec: _spec, ...object } = pulls;

  expect(toStorage(fromStorage(object))).toEqual(object);
});
