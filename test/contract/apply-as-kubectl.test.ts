/** `flotilla apply` and the stock `kubectl apply`, of the same files with the same changes of others in between. */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, createKindResolver, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { Namespace } from "@flotilla/kubernetes";
import { runs } from "@flotilla/testing/runs.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { contract } from "../programs/api-servers.ts";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";

const BY_KUBECTL = "by-kubectl";
const BY_FLOTILLA = "by-flotilla";
const HISTORIES = runs(8);
/** A history is three files and two changes, each of them twice. */
const LIMIT_MS = HISTORIES * 10_000;

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const someOf = <T>(...values: T[]) => fc.shuffledSubarray(values, { minLength: 0 });

const container = fc.record(
  {
    image: fc.constantFrom("web:latest", "web:1", "web:2"),
    imagePullPolicy: fc.constantFrom("Always", "Never"),
    args: someOf("x", "y"),
    tty: fc.boolean(),
    env: someOf({ name: "A", value: "1" }, { name: "A", value: "2" }, { name: "B", value: "1" }).map(uniqueBy("name")),
    ports: someOf<JsonObject>(
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 80 },
      { containerPort: 81, name: "admin" },
      { containerPort: 81 },
    ).map(uniqueBy("containerPort")),
    resources: fc.constantFrom<JsonObject>({}, { limits: { cpu: "1" } }, { limits: { memory: "1Gi" } }),
    livenessProbe: fc.constantFrom<JsonObject>(
      { httpGet: { path: "/", port: 80 } },
      { exec: { command: ["true"] }, periodSeconds: 3 },
    ),
  },
  { requiredKeys: ["image"] },
);

const podSpec = fc
  .record({
    containers: fc.array(container, { minLength: 1, maxLength: 3 }),
    initContainers: optional(fc.array(container, { maxLength: 1 })),
    order: fc.shuffledSubarray(["a", "b", "c"], { minLength: 3 }),
    volumes: optional(
      someOf<JsonObject>(
        { name: "v", emptyDir: {} },
        { name: "v", configMap: { name: "m" } },
        { name: "w", secret: { secretName: "s" } },
      ).map(uniqueBy("name")),
    ),
    tolerations: optional(someOf<JsonObject>({ key: "a", operator: "Exists" }, { key: "b", operator: "Exists" })),
    imagePullSecrets: optional(someOf({ name: "one" }, { name: "two" })),
    nodeSelector: optional(fc.constantFrom<JsonObject>({}, { a: "1" }, { a: "2", b: "1" })),
    hostAliases: optional(someOf<JsonObject>({ ip: "10.0.0.1", hostnames: ["a"] }, { ip: "10.0.0.2" })),
  })
  .map(({ containers, initContainers, order, ...rest }) => ({
    ...defined(rest),
    containers: containers.map((each, index) => ({
      name: order[index] ?? "",
      ...without(each, "livenessProbe", index > 0),
    })),
    ...defined({
      initContainers: initContainers?.map((each) => ({ name: "init", ...without(each, "livenessProbe", true) })),
    }),
  }));

const metadata = fc.record(
  {
    labels: fc.constantFrom({}, { team: "a" }, { team: "b", tier: "web" }),
    annotations: fc.constantFrom({}, { note: "1" }, { note: "2", more: "1" }),
    creationTimestamp: fc.constant(null),
    finalizers: someOf("example.com/one", "example.com/two"),
  },
  { requiredKeys: [] },
);

const LABELS = { app: "web" };
const template = fc
  .record({ podSpec, given: metadata })
  .map(({ podSpec: spec, given: { labels, annotations, creationTimestamp } }) => ({
    metadata: { ...defined({ annotations, creationTimestamp }), labels: { ...labels, ...LABELS } },
    spec,
  }));
const selector = { matchLabels: LABELS };
const replicas = optional(fc.integer({ min: 0, max: 3 }));

const kinds: Record<string, { apiVersion: string; spec: fc.Arbitrary<object> }> = {
  Deployment: {
    apiVersion: "apps/v1",
    spec: fc
      .record({
        replicas,
        template,
        paused: optional(fc.boolean()),
        strategy: optional(
          fc.constantFrom<JsonObject>(
            {},
            { type: "Recreate" },
            { type: "RollingUpdate", rollingUpdate: { maxSurge: 2 } },
            { rollingUpdate: { maxUnavailable: 1 } },
          ),
        ),
      })
      .map((spec) => ({ ...defined(spec), selector })),
  },
  Service: {
    apiVersion: "v1",
    spec: fc
      .record({
        ports: someOf<JsonObject>(
          { name: "http", port: 80 },
          { name: "web", port: 80, targetPort: 8080 },
          { name: "https", port: 443, protocol: "TCP" },
          { name: "dns", port: 53, protocol: "UDP" },
        )
          .filter((ports) => ports.length > 0)
          .map(uniqueBy("port")),
        selector: optional(fc.constantFrom({ app: "a" }, { app: "b", tier: "web" })),
        externalIPs: optional(someOf("10.1.0.1", "10.1.0.2")),
        sessionAffinity: optional(fc.constantFrom("None", "ClientIP")),
      })
      .map(defined),
  },
  // A custom kind: its lists are replaced.
  CloneSet: {
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: fc
      .record({ replicas, template, scaleStrategy: optional(fc.constantFrom({}, { maxUnavailable: 1 })) })
      .map((spec) => ({ ...defined(spec), selector })),
  },
};

/** What others change between two applies: JSON patches, which fail where they do not fit. */
const CONTAINERS = "/spec/template/spec/containers";
const others = fc.subarray<JsonObject>([
  { op: "add", path: "/metadata/labels/theirs", value: "x" },
  { op: "add", path: "/metadata/annotations/theirs", value: "x" },
  { op: "add", path: "/spec/replicas", value: 7 },
  { op: "add", path: `${CONTAINERS}/0`, value: { name: "injected", image: "mesh:1" } },
  { op: "add", path: `${CONTAINERS}/-`, value: { name: "last", image: "mesh:2" } },
  { op: "replace", path: `${CONTAINERS}/0/imagePullPolicy`, value: "IfNotPresent" },
  { op: "replace", path: `${CONTAINERS}/0/image`, value: "theirs:1" },
  { op: "add", path: `${CONTAINERS}/0/workingDir`, value: "/theirs" },
  { op: "add", path: "/spec/template/spec/volumes", value: [{ name: "v", hostPath: { path: "/" } }] },
  { op: "remove", path: `${CONTAINERS}/0/args` },
  { op: "replace", path: "/spec/strategy", value: { type: "Recreate" } },
  { op: "add", path: "/spec/ports/-", value: { name: "theirs", port: 9000 } },
  { op: "add", path: "/spec/ports/0/nodePort", value: 30_080 },
]);

contract(
  "apply as kubectl",
  (subject) => {
    let command: CommandLine;
    let transport: Transport;
    let client: Client;
    beforeAll(async () => {
      command = createCommand("kubectl", subject.kubeconfig);
      const { server, ...connection } = await connectionOf(await loadKubeconfig(subject.kubeconfig));
      transport = createHttp2Transport({ server, ...connection, cluster: { only: HUB } });
      client = createClient({ transport, fieldManager: "test" });
      for (const name of [BY_KUBECTL, BY_FLOTILLA])
        await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    });
    afterAll(async () => {
      command.remove();
      await transport.close();
    });

    let count = 0;
    const { signal } = new AbortController();

    for (const [kindName, { apiVersion, spec }] of Object.entries(kinds)) {
      if (kindName === "CloneSet" && subject.name !== "flotilla") continue;
      test(
        `applying random ${kindName}s over changes of others ends as with kubectl, field by field`,
        async () => {
          const kind = await createKindResolver({ client, cluster: HUB }).resolve({ apiVersion, kind: kindName });
          const file = fc.record({ spec, metadata });
          const property = fc.asyncProperty(
            fc.array(file, { minLength: 3, maxLength: 3 }),
            fc.array(others, { minLength: 3, maxLength: 3 }),
            async (files, changes) => {
              const name = `o${++count}`;
              for (const [index, given] of files.entries()) {
                const manifest = { apiVersion, kind: kindName, ...given, metadata: { ...given.metadata, name } };
                const ran = await command.run(["-n", BY_KUBECTL, "apply", "-f", "-"], JSON.stringify(manifest));
                const problem = await problemOf(
                  applyAll(
                    client,
                    { manifests: [manifest as unknown as JsonObject], namespace: BY_FLOTILLA },
                    { signal },
                  ),
                );
                expect(problem === "", `kubectl: ${ran.stderr}; flotilla: ${problem}`).toBe(ran.code === 0);
                const results = await Promise.all([BY_KUBECTL, BY_FLOTILLA].map((namespace) => read(namespace, name)));
                expect(results[1]).toEqual(results[0]);
                for (const change of changes[index] ?? [])
                  for (const namespace of [BY_KUBECTL, BY_FLOTILLA])
                    await problemOf(
                      client.patch(kind, { cluster: HUB, namespace, name }, [change], {
                        type: "json",
                        fieldManager: "other",
                      }),
                    );
              }
            },
          );

          await expect(fc.assert(property, { numRuns: HISTORIES })).resolves.toBeUndefined();

          /** The object without what differs between any two objects, and what controllers write at any time. */
          async function read(namespace: string, name: string): Promise<unknown> {
            const object = await client.get(kind, { cluster: HUB, namespace, name });
            const { labels, annotations, finalizers } = object.metadata as KubernetesObject["metadata"];
            const {
              "kubectl.kubernetes.io/last-applied-configuration": last = "{}",
              "deployment.kubernetes.io/revision": _revision,
              ...noted
            } = annotations ?? {};
            const { clusterIP: _ip, clusterIPs: _ips, ...desired } = object["spec"] as JsonObject;
            const { metadata: lastMetadata, ...lastRest } = JSON.parse(last) as JsonObject & { metadata?: JsonObject };
            return {
              labels,
              finalizers,
              annotations: noted,
              spec: desired,
              last: { ...lastRest, metadata: { ...lastMetadata, namespace: "" } },
            };
          }
        },
        LIMIT_MS,
      );
    }
  },
  { skip: noCommands },
);

/** The message of the failure; empty without one. */
async function problemOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "";
  } catch (error) {
    if (error instanceof FlotillaError) return `${error.message}: ${String(error.cause)}`;
    throw error;
  }
}

function uniqueBy(key: string): <T extends object>(items: T[]) => T[] {
  return (items) => {
    const seen = new Set<unknown>();
    return items.filter((item) => {
      const value = (item as Record<string, unknown>)[key];
      return !seen.has(value) && seen.add(value);
    });
  };
}

/** Probes of init containers are not allowed, and one per pod is enough. */
function without<T extends object>(object: T, key: keyof T, isLeftOut: boolean): object {
  const { [key]: _, ...rest } = object;
  return isLeftOut ? rest : object;
}
