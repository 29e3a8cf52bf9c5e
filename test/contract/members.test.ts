/**
 * The controllers of simulated members, unchanged, on a real kube-apiserver with OpenKruise's published CRDs and no
 * other controllers: nodes and kubelets are simulated as well, over HTTP/2. OpenKruise's webhooks are not installed, so
 * objects are already defaulted.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseYaml } from "@flotilla/apimachinery";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AdvancedDaemonSet, AdvancedStatefulSet, CloneSet, containerHashes } from "@flotilla/openkruise";
import {
  CustomResourceDefinition,
  Deployment,
  Job,
  Namespace,
  Pod,
  ServiceAccount,
  StatefulSet,
} from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { silentLog, systemClock, systemRandom } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import {
  connectionOf,
  createClient,
  createHttp2Transport,
  createServedVersionsClient,
  loadKubeconfig,
} from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createInformers, createManager, createWriteThroughClient } from "@flotilla/controller-runtime";
import { createSimulation } from "@flotilla/simulation";
import { bindByBinding } from "@flotilla/testing/simulation/bind-by-binding.ts";
import { createWorkloadControllers } from "@flotilla/server";
import { realBinaries, startKube } from "../programs/kube.ts";

const CLUSTER = "real";
const NAMESPACE = "contract";
const NODES = 3;
const START_LIMIT_MS = 120_000;
const TEST_LIMIT_MS = 60_000;
/** Less than the test timeout, so that a failure can report what it waited for. */
const EVENTUALLY_MS = 25_000;
const POLL_MS = 50;

const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
const definitions = binaries === undefined ? [] : listDefinitions(join(binaries, "kruise-config/crd/bases"));
const reason =
  binaries === undefined
    ? "$REAL_BIN is not set, or has no etcd and kube-apiserver"
    : definitions.length === 0
      ? "$REAL_BIN has no kruise-config"
      : undefined;
if (reason !== undefined) process.stdout.write(`skipped: the controllers of members on kube-apiserver: ${reason}\n`);

function listDefinitions(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

describe.skipIf(reason !== undefined)(
  "the controllers of members on kube-apiserver",
  { timeout: TEST_LIMIT_MS },
  () => {
    const stops: (() => Promise<void> | void)[] = [];
    let client: Client;

    beforeAll(async () => {
      const kube = await startKube(binaries ?? "");
      stops.push(() => kube.stop());
      const transport = createHttp2Transport({
        ...(await connectionOf(await loadKubeconfig(kube.kubeconfig))),
        cluster: { only: CLUSTER },
      });
      stops.push(() => transport.close());
      client = createServedVersionsClient(createClient({ transport, fieldManager: "contract" }));
      for (const file of definitions)
        await client.create(
          CustomResourceDefinition,
          CLUSTER,
          parseYaml(readFileSync(file, "utf8")) as unknown as CustomResourceDefinition,
        );
      await eventually(
        "OpenKruise's kinds are served",
        async () => (await client.list(CustomResourceDefinition, { cluster: CLUSTER })).items,
        (items) =>
          items.every(({ status }) =>
            status?.conditions?.some(({ type, status: value }) => type === "Established" && value === "True"),
          ),
      );
      await client.create(Namespace, CLUSTER, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
      await client.create(ServiceAccount, CLUSTER, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: NAMESPACE },
      });
      await startMember();
    }, START_LIMIT_MS);
    afterAll(async () => {
      for (const stop of stops.toReversed()) await stop();
    }, START_LIMIT_MS);

    /** Runs what `flotilla up` runs for its members, on an external cluster. */
    async function startMember(): Promise<void> {
      const clock = systemClock;
      const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: CLUSTER } });
      const controllerClient = createWriteThroughClient(client, [informers]);
      const simulation = createSimulation({
        client: controllerClient,
        informers,
        clock,
        bind: bindByBinding,
        hashes: containerHashes,
        times: { startMs: 0, restartMs: 100, stopMs: 0 },
      });
      const manager = createManager({ client: controllerClient, informers, clock, log: silentLog });
      manager.add(
        ...createWorkloadControllers({ client: controllerClient, informers, clock, random: systemRandom }),
        ...simulation.controllers,
      );
      await simulation.ensureNodes(CLUSTER, NODES);
      manager.start(new AbortController().signal);
      stops.push(async () => {
        await manager.stop();
        informers.close();
      });
    }

    const keyOf = (name: string) => ({ cluster: CLUSTER, namespace: NAMESPACE, name });
    const labelsOf = (name: string) => ({ app: name });
    const template = (name: string, spec: JsonObject = {}) => ({
      metadata: { labels: labelsOf(name) },
      spec: { containers: [{ name: "main", image: "web:1" }], ...spec },
    });
    const podsOf = async (name: string): Promise<readonly DeepReadonly<Pod>[]> =>
      (await client.list(Pod, { cluster: CLUSTER, namespace: NAMESPACE, labelSelector: `app=${name}` })).items.filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
      );
    const isReady = ({ status }: DeepReadonly<Pod>): boolean =>
      status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
    const whenReady = (
      name: string,
      count: number,
      also: (pods: readonly DeepReadonly<Pod>[]) => boolean = () => true,
    ) =>
      eventually(
        `${count} pods of ${name} are ready`,
        () => podsOf(name),
        (pods) => pods.length === count && pods.every(isReady) && also(pods),
      );
    const withImage = (pods: readonly DeepReadonly<Pod>[], image: string) =>
      pods.filter(({ spec }) => spec.containers[0]?.image === image);

    async function create<T extends KubernetesObject>(kind: Kind<T>, name: string, spec: JsonObject): Promise<void> {
      const apiVersion = kind.group === "" ? kind.storageVersion : `${kind.group}/${kind.storageVersion}`;
      await client.create(kind, CLUSTER, {
        apiVersion,
        kind: kind.kind,
        metadata: { name, namespace: NAMESPACE },
        spec,
      } as unknown as DeepReadonly<T>);
    }

    /** A controller may write the status in between; then the change is retried on the current object. */
    async function change<T extends KubernetesObject>(
      kind: Kind<T>,
      name: string,
      edit: (object: DeepReadonly<T>) => DeepReadonly<T>,
    ): Promise<void> {
      await eventually(
        `${name} is changed`,
        async () => {
          try {
            return await client.update(kind, CLUSTER, edit(await client.get(kind, keyOf(name))));
          } catch (error) {
            if (error instanceof Error && error.message.includes("has been modified")) return undefined;
            throw error;
          }
        },
        (written) => written !== undefined,
      );
    }

    test("a CloneSet of ten updates three pods in place with partition seven, and then the rest", async () => {
      const name = "cloneset";
      const rollingUpdate = { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: "20%", maxSurge: 0, partition: 0 };
      const readinessGates = [{ conditionType: "InPlaceUpdateReady" }];
      await create(CloneSet, name, {
        replicas: 10,
        revisionHistoryLimit: 10,
        selector: { matchLabels: labelsOf(name) },
        template: template(name, { readinessGates }),
        updateStrategy: { type: "RollingUpdate", rollingUpdate },
      });
      const before = await whenReady(name, 10);

      const update = (partition: number) =>
        change(CloneSet, name, (set) => ({
          ...set,
          spec: {
            ...set.spec,
            template: {
              ...set.spec.template,
              spec: { ...set.spec.template.spec, containers: [{ name: "main", image: "web:2" }] },
            },
            updateStrategy: {
              type: "RollingUpdate" as const,
              rollingUpdate: { ...set.spec.updateStrategy?.rollingUpdate, partition },
            },
          },
        }));
      await update(7);
      const partly = await whenReady(name, 10, (pods) => withImage(pods, "web:2").length === 3);
      await update(0);
      const after = await whenReady(name, 10, (pods) => withImage(pods, "web:2").length === 10);

      const identity = (pods: readonly DeepReadonly<Pod>[]) =>
        pods.map(({ metadata, status }) => `${metadata.name} ${metadata.uid} ${status?.podIP}`).toSorted();
      expect(identity(partly)).toEqual(identity(before));
      expect(identity(after)).toEqual(identity(before));
      expect(withImage(partly, "web:2").map(({ status }) => status?.containerStatuses?.[0]?.restartCount)).toEqual([
        1, 1, 1,
      ]);
      await eventually(
        "the status is reported",
        () => client.get(CloneSet, keyOf(name)),
        ({ status }) => status?.updatedReadyReplicas === 10 && status.currentRevision === status.updateRevision,
      );
      const { body } = await client.raw({
        method: "GET",
        path: `/apis/apps.kruise.io/v1alpha1/namespaces/${NAMESPACE}/clonesets/${name}`,
        cluster: CLUSTER,
      });
      expect(JSON.parse(Buffer.concat(await Array.fromAsync(body)).toString())).toMatchObject({
        apiVersion: "apps.kruise.io/v1alpha1",
        spec: { updateStrategy: { partition: 0, type: "InPlaceIfPossible" } },
        status: { readyReplicas: 10 },
      });
    });

    test("a Deployment rolls out", async () => {
      const name = "deployment";
      await create(Deployment, name, {
        replicas: 4,
        selector: { matchLabels: labelsOf(name) },
        template: template(name),
      });
      await whenReady(name, 4);

      await change(Deployment, name, (deployment) => ({
        ...deployment,
        spec: {
          ...deployment.spec,
          template: { ...deployment.spec.template, spec: { containers: [{ name: "main", image: "web:2" }] } },
        },
      }));

      await whenReady(name, 4, (pods) => withImage(pods, "web:2").length === 4);
      const { status } = await eventually(
        "the status is reported",
        () => client.get(Deployment, keyOf(name)),
        (deployment) => deployment.status?.availableReplicas === 4,
      );
      expect(status).toMatchObject({ replicas: 4, updatedReplicas: 4, readyReplicas: 4 });
    });

    test("a StatefulSet starts its pods in order", async () => {
      const name = "statefulset";
      await create(StatefulSet, name, {
        replicas: 3,
        serviceName: name,
        selector: { matchLabels: labelsOf(name) },
        template: template(name),
      });

      const pods = await whenReady(name, 3);

      expect(pods.map(({ metadata }) => metadata.name).toSorted()).toEqual([`${name}-0`, `${name}-1`, `${name}-2`]);
    });

    test("an Advanced StatefulSet skips reserved ordinals", async () => {
      const name = "advanced";
      await create(AdvancedStatefulSet, name, {
        replicas: 3,
        reserveOrdinals: [1],
        serviceName: name,
        podManagementPolicy: "Parallel",
        revisionHistoryLimit: 10,
        selector: { matchLabels: labelsOf(name) },
        template: template(name),
        updateStrategy: {
          type: "RollingUpdate",
          rollingUpdate: { partition: 0, maxUnavailable: 1, podUpdatePolicy: "ReCreate" },
        },
      });

      const pods = await whenReady(name, 3);

      expect(pods.map(({ metadata }) => metadata.name).toSorted()).toEqual([`${name}-0`, `${name}-2`, `${name}-3`]);
    });

    test("an Advanced DaemonSet runs on every node", async () => {
      const name = "daemon";
      await create(AdvancedDaemonSet, name, {
        selector: { matchLabels: labelsOf(name) },
        revisionHistoryLimit: 10,
        burstReplicas: 250,
        template: template(name),
        updateStrategy: {
          type: "RollingUpdate",
          rollingUpdate: { rollingUpdateType: "Standard", maxUnavailable: 1, maxSurge: 0, partition: 0 },
        },
      });

      const pods = await whenReady(name, NODES);

      expect(new Set(pods.map(({ spec }) => spec.nodeName)).size).toBe(NODES);
      await eventually(
        "the status is reported",
        () => client.get(AdvancedDaemonSet, keyOf(name)),
        ({ status }) => status?.numberAvailable === NODES,
      );
    });

    test("a Job completes", async () => {
      const name = "job";
      await create(Job, name, { completions: 3, parallelism: 2, template: template(name, { restartPolicy: "Never" }) });

      const job = await eventually(
        "the Job completes",
        () => client.get(Job, keyOf(name)),
        ({ status }) =>
          status?.conditions?.some(({ type, status: value }) => type === "Complete" && value === "True") ?? false,
      );

      expect(job.status?.succeeded).toBe(3);
    });
  },
);

async function eventually<T>(what: string, read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + EVENTUALLY_MS;
  for (;;) {
    const value = await read();
    if (isThere(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`waiting until ${what}: it did not happen; last seen: ${JSON.stringify(value)?.slice(0, 1500)}`);
    await delay(POLL_MS);
  }
}
