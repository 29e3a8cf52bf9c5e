/** The end of sidecars on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { Job } from "@flotilla/kubernetes";
import type { EnvVar } from "@flotilla/apimachinery/facts/core-v1.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { kruiseKinds } from "../openkruise.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const TERMINATE = { name: "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT", value: "true" };

async function start(env: EnvVar[], { gate = true, exitCode = 0 } = {}): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, gates: { SidecarTerminator: gate } });
  await member.pass(1000);
  await member.client.create(Job, MEMBER, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "pi", namespace: NAMESPACE },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [
            { name: "main", image: "pi:1", command: ["sh", "-c", `sleep 5; exit ${exitCode}`] },
            { name: "proxy", image: "proxy:1", command: ["sleep", "3600"], env },
          ],
        },
      },
    },
  });
  await member.pass(60_000);
}

const phases = (): (string | undefined)[] => member.pods().map(({ status }) => status?.phase);

test("a sidecar ends with the main container, and the job with it", async () => {
  await start([TERMINATE]);

  expect(phases()).toEqual(["Succeeded"]);
  expect((await member.get(Job, "pi")).status?.succeeded).toBe(1);
  expect(member.events.join()).toContain("Kruise SidecarTerminator is trying to terminate sidecar [proxy] using crr");
});

test("a job whose main container failed has failed, whatever the sidecar says", async () => {
  await start([TERMINATE, { name: "KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE", value: "true" }], { exitCode: 1 });

  expect(phases()).toEqual(["Failed"]);
});

test("without the variable, or without the gate, the sidecar keeps the pod running", async () => {
  await start([]);
  const plain = phases();
  await member.stop();
  await start([TERMINATE], { gate: false });

  expect([plain, phases()]).toEqual([["Running"], ["Running"]]);
});
