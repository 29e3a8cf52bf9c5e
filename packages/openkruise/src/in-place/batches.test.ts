/** In-place updates of pods whose containers have launch priorities: one batch after the other. */
import { expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { startUpdate } from "./apply.ts";
import { refreshPod, whyIncomplete } from "./refresh.ts";
import type { UpdateSpec } from "./state.ts";
import { createFeatureGates } from "../api/feature-gates.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const gates = createFeatureGates({ InPlaceWorkloadVerticalScaling: true });
const options = { gates, relabel: (pod: ReadonlyPod): ReadonlyPod => pod, nowMs: NOW };
const refresh = (pod: ReadonlyPod): ReadonlyPod => refreshPod(pod, { gates, hasRevision: () => true, nowMs: NOW }).pod;

/** Containers by priority; undefined means none. */
function makePod(priorities: Record<string, number | undefined>): ReadonlyPod {
  const names = Object.keys(priorities);
  const barrier = (priority: number | undefined) =>
    priority === undefined
      ? []
      : [
          {
            name: "KRUISE_CONTAINER_BARRIER",
            valueFrom: { configMapKeyRef: { name: "demo-barrier", key: `p_${priority}` } },
          },
        ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "demo", namespace: "shop", labels: {} },
    spec: {
      containers: names.map((name) => ({
        name,
        image: `${name}:1`,
        env: barrier(priorities[name]),
      })),
      readinessGates: [{ conditionType: "InPlaceUpdateReady" }],
    },
    status: {
      conditions: [{ type: "InPlaceUpdateReady", status: "False" }],
      containerStatuses: names.map((name) => ({
        name,
        image: `${name}:1`,
        imageID: `id-${name}:1`,
        ready: true,
        restartCount: 0,
      })),
    },
  };
}
const specOf = (changes: Partial<UpdateSpec>): UpdateSpec => ({
  revision: "demo-2",
  containerImages: {},
  containerRefMetadata: {},
  containerResources: {},
  updateEnvFromMetadata: false,
  graceSeconds: 0,
  ...changes,
});
const imagesOf = ({ spec }: ReadonlyPod): string[] => spec.containers.map(({ image }) => image ?? "");
const stateOf = ({ metadata }: ReadonlyPod): Record<string, unknown> =>
  JSON.parse(metadata.annotations?.["apps.kruise.io/inplace-update-state"] ?? "{}") as Record<string, unknown>;
/** The pod once the node runs its spec. */
const restarted = (pod: ReadonlyPod, ready = true): ReadonlyPod => ({
  ...pod,
  status: {
    ...pod.status,
    containerStatuses: pod.spec.containers.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: `id-${image}`,
      ready,
      restartCount: 1,
    })),
  },
});

test("containers without a launch priority and those with the highest change first; the rest wait in the state", () => {
  const { pod } = startUpdate(
    makePod({ app: 1, log: 2, proxy: undefined }),
    specOf({ containerImages: { app: "app:2", log: "log:2", proxy: "proxy:2" } }),
    options,
  );

  expect(imagesOf(pod)).toEqual(["app:1", "log:2", "proxy:2"]);
  expect(pod.metadata.annotations?.["apps.kruise.io/inplace-update-state"]).toBe(
    '{"revision":"demo-2","updateTimestamp":"2024-05-01T12:00:00Z","lastContainerStatuses":{"log":{"imageID":' +
      '"id-log:1"},"proxy":{"imageID":"id-proxy:1"}},"updateImages":true,' +
      '"nextContainerImages":{"app":"app:2"},"preCheckBeforeNext":{"containersRequiredReady":["log","proxy"]},' +
      '"containerBatchesRecord":[{"timestamp":"2024-05-01T12:00:00Z","containers":["log","proxy"]}]}',
  );
});

test("the next batch changes once the first is running and ready, and the gate becomes true after the last", () => {
  const { pod: first } = startUpdate(
    makePod({ app: 1, log: 2 }),
    specOf({ containerImages: { app: "app:2", log: "log:2" } }),
    options,
  );

  const tooEarly = refresh(first);
  const unready = refresh(restarted(first, false));
  const second = refresh(restarted(first));
  const last = refresh(restarted(second));

  expect(tooEarly).toBe(first);
  expect(imagesOf(unready)).toEqual(["app:1", "log:2"]);
  expect(imagesOf(second)).toEqual(["app:2", "log:2"]);
  expect(stateOf(second)["nextContainerImages"]).toBeUndefined();
  expect(whyIncomplete(restarted(first), gates)).toBe("existing containers to in-place update in next batches");
  expect(last.status?.conditions).toEqual([
    { type: "InPlaceUpdateReady", status: "True", lastTransitionTime: "2024-05-01T12:00:00Z" },
  ]);
});

test("a container that reads a label of the first batch changes with it", () => {
  const containerRefMetadata = {
    app: { labels: { version: "2" } },
    log: { labels: { version: "2" } },
    late: { labels: { other: "2" } },
  };

  const { pod } = startUpdate(
    makePod({ app: 1, log: 2, late: 0 }),
    specOf({ containerRefMetadata, updateEnvFromMetadata: true }),
    options,
  );

  expect(pod.metadata.labels).toEqual({ version: "2" });
  expect(stateOf(pod)).toMatchObject({
    nextContainerRefMetadata: { late: { creationTimestamp: null, labels: { other: "2" } } },
    containerBatchesRecord: [{ containers: ["app", "log"] }],
  });
});

test("returns resources for the resize subresource, batch by batch", () => {
  const containerResources = { app: { limits: { cpu: "2" } }, log: { limits: { cpu: "1" } } };

  const { pod, resize } = startUpdate(makePod({ app: 1, log: 2 }), specOf({ containerResources }), options);

  expect(resize).toEqual({ log: { limits: { cpu: "1" } } });
  expect(stateOf(pod)["nextContainerResources"]).toEqual({ app: { limits: { cpu: "2" } } });
});
