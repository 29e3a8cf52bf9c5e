/** What a Lua interpreter costs per operation, for objects of 2 and 20 KB and 2, 20 and 200 status items. */
import type { JsonObject } from "../../src/base/index.ts";
import { aggregateStatus, compileScript, getReplicas, interpretHealth, reviseReplica } from "../../src/interpreter/lua/index.ts";
import type { Benchmark, Figure } from "./benchmark.ts";

const SCRIPT = `
local kube = require("kube")
function GetReplicas(obj)
  return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
end
function ReviseReplica(obj, replicas)
  obj.spec.replicas = replicas
  return obj
end
function InterpretHealth(obj)
  return obj.status.observedGeneration == obj.metadata.generation and obj.status.readyReplicas == obj.spec.replicas
end
function AggregateStatus(obj, items)
  local replicas, ready, updated, available = 0, 0, 0, 0
  for i = 1, #items do
    local status = items[i].status
    if status ~= nil then
      replicas = replicas + (status.replicas or 0)
      ready = ready + (status.readyReplicas or 0)
      updated = updated + (status.updatedReplicas or 0)
      available = available + (status.availableReplicas or 0)
    end
  end
  obj.status = { replicas = replicas, readyReplicas = ready, updatedReplicas = updated, availableReplicas = available }
  return obj
end`;

const SHAPES = 32;
const WARM_UP = 3000;
const ROUNDS = 1000;
const PER_ROUND = 20;

function makeCloneSet(index: number, containers: number): JsonObject {
  const container = (number: number): JsonObject => ({ name: `c${number}`, image: "nginx:1.27", ports: [{ name: "http", containerPort: 80 }], env: [{ name: "A", value: "1" }, { name: "B", valueFrom: { configMapKeyRef: { name: "settings", key: "b" } } }], resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "1Gi" } } });
  return {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name: `web-${index}`, namespace: "shop", generation: 3, labels: { app: "web" } },
    spec: { replicas: 3 + index, selector: { matchLabels: { app: "web" } }, template: { metadata: { labels: { app: "web" } }, spec: { containers: Array.from({ length: containers }, (_, number) => container(number)) } } },
    status: { observedGeneration: 3, replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  };
}

const makeItems = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ clusterName: `member${index}`, applied: true, health: "Healthy", status: { replicas: 2, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 } }));

/** The median time of one call, in microseconds. */
function measure(run: (round: number) => void): number {
  for (let round = 0; round < WARM_UP; round++) run(round);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let call = 0; call < PER_ROUND; call++) run(round * PER_ROUND + call);
    times.push(((performance.now() - start) * 1000) / PER_ROUND);
  }
  return times.toSorted((a, b) => a - b)[ROUNDS / 2] ?? 0;
}

export const lua: Benchmark = {
  name: "lua",
  summary: "a Lua interpreter per operation, conversion and result rules included",
  async run({ progress }) {
    const script = compileScript(SCRIPT);
    const figures: Figure[] = [];
    const note = (name: string, run: (round: number) => void): void => {
      progress(name);
      figures.push({ name, value: measure(run), unit: "µs", better: "less" });
    };
    for (const [size, containers] of [["2 KB", 5], ["20 KB", 70]] as const) {
      const objects = Array.from({ length: SHAPES }, (_, index) => makeCloneSet(index, containers));
      const object = (round: number): JsonObject => objects[round % SHAPES] ?? {};
      note(`InterpretHealth ${size}`, (round) => interpretHealth(script, object(round)));
      note(`GetReplicas ${size}`, (round) => getReplicas(script, object(round)));
      note(`ReviseReplica ${size}`, (round) => reviseReplica(script, object(round), round));
      for (const count of [2, 20, 200]) {
        const items = makeItems(count);
        note(`AggregateStatus ${size}, ${count} items`, (round) => aggregateStatus(script, object(round), items));
      }
    }
    return figures;
  },
};
