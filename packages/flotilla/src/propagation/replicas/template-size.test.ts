import { expect, test } from "vitest";
import { InterpretError } from "@flotilla/kubernetes";
import { sizeOf } from "./template-size.ts";

const template = { apiVersion: "flink.apache.org/v1beta1", kind: "FlinkDeployment", metadata: { name: "count" } };
const known = {
  replicas: async () => ({ replicas: 3 }),
  components: async () => [{ name: "jobmanager", replicas: 1 }],
  levelOf: () => "thirdparty" as const,
};

test("a workload's size is its replicas unless components are enabled and its kind has them", async () => {
  expect(await sizeOf(template, known, false)).toEqual({ replicas: { replicas: 3 } });
  expect(await sizeOf(template, known, true)).toEqual({ components: [{ name: "jobmanager", replicas: 1 }] });
  expect(await sizeOf(template, { ...known, levelOf: () => undefined }, true)).toEqual({ replicas: { replicas: 3 } });
});

test("the failing rule is named", async () => {
  const failing = {
    ...known,
    replicas: () => Promise.reject(new InterpretError("no idea")),
    components: () => Promise.reject(new InterpretError("none either")),
  };
  const reported: string[] = [];

  for (const countsComponents of [false, true])
    await expect(sizeOf(template, failing, countsComponents, (rule) => void reported.push(rule))).rejects.toThrow(
      InterpretError,
    );

  expect(reported).toEqual(["GetReplicasFailed", "GetComponentsFailed"]);
});
