/** PodProbeMarkers on a simulated member, with the daemon of its nodes. */
import { afterEach, expect, test } from "vitest";
import { Pod } from "@flotilla/kubernetes";
import { makeWebCloneSet, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { NodePodProbe } from "../nodepodprobe/nodepodprobe-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const FAILING = "simulation.flotilla.dev/failing-probes";
const idle: PodProbeMarker["spec"]["probes"][number] = {
  name: "idle",
  containerName: "main",
  probe: { exec: { command: ["sh", "-c", "exit 0"] } },
  podConditionType: "shop.example.com/idle",
  markerPolicy: [
    { state: "Succeeded", labels: { idle: "true" } },
    { state: "Failed", labels: { busy: "true" } },
  ],
};

async function start(probes = [idle]): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds });
  await member.pass(1000);
  await member.client.create(PodProbeMarker, MEMBER, {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "PodProbeMarker",
    metadata: { name: "game", namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: "web" } }, probes },
  });
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(2));
  await member.pass(20_000);
}

const conditionsOf = (): unknown[] =>
  member.pods().map(({ status }) => status?.conditions?.find(({ type }) => type === "shop.example.com/idle")?.status);
const labelsOf = (name: string): (string | undefined)[] => member.pods().map(({ metadata }) => metadata.labels?.[name]);

test("a successful probe sets the condition and the labels of its pods", async () => {
  await start();

  expect(conditionsOf()).toEqual(["True", "True"]);
  expect(labelsOf("idle")).toEqual(["true", "true"]);
  expect((await member.get(PodProbeMarker, "game")).status).toMatchObject({ matchedPods: 2 });
});

test("a probe that fails later replaces the labels of the success", async () => {
  await start();
  const [first] = member.pods();

  await member.client.patch(
    Pod,
    { cluster: MEMBER, namespace: NAMESPACE, name: first?.metadata.name ?? "" },
    { metadata: { annotations: { [FAILING]: "idle" } } },
    { type: "merge" },
  );
  await member.pass(10_000);

  expect(conditionsOf()).toEqual(["False", "True"]);
  expect(labelsOf("idle")).toEqual([undefined, "true"]);
  expect(labelsOf("busy")).toEqual(["true", undefined]);
});

test("the probes of a deleted pod, and of a deleted marker, leave the nodes", async () => {
  await start();
  const probes = async (): Promise<number> =>
    (await member.list(NodePodProbe)).flatMap(({ spec }) => spec?.podProbes ?? []).length;
  const before = await probes();

  await member.edit((spec) => ({ ...spec, replicas: 1 }));
  await member.pass(60_000);
  const scaled = await probes();
  await member.client.delete(PodProbeMarker, { cluster: MEMBER, namespace: NAMESPACE, name: "game" }, {});
  await member.pass(10_000);

  expect([before, scaled, await probes()]).toEqual([2, 1, 0]);
  expect(await member.list(PodProbeMarker)).toEqual([]);
});

test("a named port that the container does not have is not probed", async () => {
  const named = (port: string) => ({ ...idle, name: port, podConditionType: port, probe: { tcpSocket: { port } } });
  await start([named("web"), idle]);

  const [nodeProbe] = await member.list(NodePodProbe);

  expect(nodeProbe?.spec?.podProbes?.[0]?.probes?.map(({ name }) => name)).toEqual(["game#idle"]);
});

test("writes nothing once the pods are marked, and a cluster without markers has no NodePodProbes", async () => {
  await start();

  member.writes.reset();
  await member.pass(600_000);

  expect(member.writes.counts()).toEqual([]);
  await member.stop();
  member = await startKruiseMember({ customs: kruiseKinds });
  await member.pass(60_000);
  expect(await member.list(NodePodProbe)).toEqual([]);
});
