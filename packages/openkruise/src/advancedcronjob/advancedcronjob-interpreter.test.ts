import { expect, test } from "vitest";
import { advancedCronJobInterpreter } from "./advancedcronjob-interpreter.ts";

const makeCronJob = (template: object): Parameters<NonNullable<typeof advancedCronJobInterpreter.dependencies>>[0] => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "AdvancedCronJob",
  metadata: { name: "report", namespace: "shop" },
  spec: { template },
});
const pods = { spec: { template: { spec: { containers: [], imagePullSecrets: [{ name: "registry" }] } } } };

const templates: Record<string, object> = {
  "a Job": { jobTemplate: pods },
  "a BroadcastJob": { broadcastJobTemplate: pods },
  "an image pull": { imageListPullJobTemplate: { spec: { images: ["web:1"], pullSecrets: ["registry"] } } },
};
for (const [kind, template] of Object.entries(templates)) {
  test(`an AdvancedCronJob with ${kind} depends on its pull secrets`, () => {
    const dependencies = advancedCronJobInterpreter.dependencies?.(makeCronJob(template));

    expect(dependencies).toMatchObject([{ kind: "Secret", namespace: "shop", name: "registry" }]);
  });
}

test("the last schedule time is the latest of all members, whatever their order", () => {
  const items = ["2024-05-01T12:10:00Z", "2024-05-01T12:00:00Z"].map((lastScheduleTime, index) => ({
    clusterName: `member${index}`,
    status: { lastScheduleTime },
  }));

  const summed = advancedCronJobInterpreter.aggregateStatus?.(makeCronJob({}), items);

  expect(summed?.status).toEqual({ lastScheduleTime: "2024-05-01T12:10:00Z" });
});
